// The wave around a node: the slider moves time, circles grow and change colour with the amplitude.
"use strict";
(() => {
  const holder = document.getElementById("wave-data");
  if (holder) {
    const wave = JSON.parse(holder.textContent);
    const slider = document.getElementById("wave-time");
    const said = document.getElementById("wave-now");
    const line = document.getElementById("wave-line");
    const balls = [...document.querySelectorAll(".ball")];
    const largest = Math.max(...wave.values.flat().map(Math.abs)) || 1;
    const show = () => {
      const step = Number(slider.value);
      balls.forEach((ball, place) => {
        const value = wave.values[step][place];
        ball.setAttribute("fill-opacity", (0.12 + 0.88 * Math.sqrt(Math.abs(value) / largest)).toFixed(3));
        ball.classList.toggle("up", value >= 0);
        ball.classList.toggle("down", value < 0);
        ball.querySelector("title").textContent = `${wave.names[place]}: ${value.toLocaleString("en", { maximumSignificantDigits: 3 })}`;
      });
      line.setAttribute("x1", wave.places[step]);
      line.setAttribute("x2", wave.places[step]);
      said.textContent = `t = ${wave.times[step]}`;
    };
    let playing = null;
    const play = document.getElementById("wave-play");
    const stop = () => { clearInterval(playing); playing = null; play.textContent = "Play"; };
    play.addEventListener("click", () => {
      if (playing !== null) { stop(); return; }
      if (slider.value === slider.max) { slider.value = 0; show(); }
      play.textContent = "Pause";
      playing = setInterval(() => {
        slider.value = Number(slider.value) + 1;
        show();
        if (slider.value === slider.max) { stop(); }
      }, Math.max(120, 2400 / wave.times.length));
    });
    slider.addEventListener("input", () => { if (playing !== null) { stop(); } show(); });
    show();
  }
  document.body.dataset.ready = "yes";
})();

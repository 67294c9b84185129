// What a person does, and what follows from it.
"use strict";
(function (GWN) {
  const by = (id) => document.getElementById(id);
  const KEYS = ["signal", "laplacian", "scheme", "tau"];
  const UNITS_A_SECOND = 1.6;  // of time, while playing
  const state = { wave: null, entry: null, step: 0, node: GWN.graph.centre, playing: null };
  const graph = new GWN.Graph(by("graph"), by("edges"), choose);
  const charts = new GWN.Charts({
    waveform: by("waveform"), spectrum: by("spectrum"), energy: by("energy"), growth: by("growth"),
  });

  // Each list offers what exists under the choices before it, and keeps its value where that is possible.
  function offer(wanted) {
    let left = GWN.index.map((entry, number) => ({ ...entry, number }));
    KEYS.forEach((key) => {
      const values = [...new Set(left.map((entry) => String(entry[key])))];
      const keep = values.includes(String(wanted[key])) ? String(wanted[key]) : values[0];
      by(key).replaceChildren(...values.map((value) => new Option(value, value, false, value === keep)));
      left = left.filter((entry) => String(entry[key]) === keep);
    });
    return left[0];
  }

  function judge(entry) {
    const growth = GWN.number(entry.growth, 4);
    let advice = "";
    if (entry.largest === null) advice = "With directed edges the largest stable tau is not known.";
    else if (entry.largest === 0) advice = "No tau is small enough: L_a has a positive eigenvalue. The physical Laplacian has none.";
    else if (entry.largest !== "any") advice = `Stable up to tau = ${GWN.number(entry.largest, 4)}; the schemes bessel and newmark are for any tau.`;
    by("verdict").className = entry.stable ? "bounded" : "unbounded";
    by("verdict").textContent = entry.stable
      ? `Bounded: no mode grows from step to step.`
      : `Warning, unbounded: the fastest mode is multiplied by ${growth} in every step. ${advice}`;
  }

  function select() {
    const wanted = Object.fromEntries(KEYS.map((key) => [key, by(key).value]));
    open(offer(wanted));
  }

  function open(entry, then) {
    pause();
    GWN.load(entry.number, (wave) => {
      const time = state.wave ? state.wave.times[state.step] : 0;
      state.wave = wave;
      state.entry = entry;
      state.all = GWN.reach([].concat(...wave.times.map((_, n) => Array.from(wave.at(n)))));
      by("time").max = wave.steps - 1;
      judge(entry);
      const nearest = Math.min(wave.steps - 1, Math.round(time / entry.tau));
      state.step = nearest;
      charts.measures(wave, entry, nearest);
      charts.waveform(wave, state.node, nearest);
      show(nearest);
      if (then) then();
      document.body.dataset.ready = String(entry.number);
    });
  }

  function paint(place) {
    const values = state.wave.at(place);
    const reach = by("fixed").checked ? state.all : GWN.reach(values);
    graph.colour(values, reach);
    by("low").textContent = "−" + GWN.number(reach);
    by("high").textContent = "+" + GWN.number(reach);
  }

  // The charts follow once a frame, however fast the slider is drawn.
  let waiting = false;
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; charts.moment(state.wave, state.step); });
  }

  function mark(step) {
    state.step = step;
    by("time").value = step;
    const text = `t = ${GWN.number(state.wave.times[step])}, step ${step} of ${state.wave.steps - 1}`;
    by("now").value = text;
    by("time").setAttribute("aria-valuetext", text);
    later();
    tell();
  }

  function show(step) {
    paint(step);
    mark(step);
  }

  function tell() {
    by("told").textContent = "amplitude " + GWN.number(state.wave.at(state.step)[state.node]);
  }

  function choose(node) {
    state.node = node;
    by("node").value = GWN.graph.names[node];
    graph.choose(node);
    charts.waveform(state.wave, node, state.step);
    const near = graph.neighbours(node), few = near.slice(0, 8);
    by("neighbours").replaceChildren(document.createTextNode(near.length ? "Neighbours: " : "No neighbours drawn"), ...few.map((other) => {
      const button = document.createElement("button");
      button.textContent = GWN.graph.names[other];
      button.addEventListener("click", () => choose(other));
      return button;
    }), document.createTextNode(near.length > few.length ? `and ${near.length - few.length} more` : ""));
    tell();
  }

  function find() {
    const wanted = by("node").value.trim();
    let node = GWN.graph.names.indexOf(wanted);
    if (node < 0) node = GWN.graph.names.indexOf("node " + wanted);
    if (node >= 0) choose(node);
    else by("told").textContent = "no node of that name is drawn";
  }

  function play() {
    if (state.playing !== null) return pause();
    by("play").textContent = "Pause";
    by("play").setAttribute("aria-pressed", "true");
    const last = state.wave.steps - 1, start = state.step >= last ? 0 : state.step, began = performance.now();
    const frame = (now) => {
      const place = Math.min(last, start + ((now - began) / 1000) * UNITS_A_SECOND / state.entry.tau);
      paint(place);
      if (Math.floor(place) !== state.step) mark(Math.floor(place));
      if (place >= last) return pause();
      state.playing = requestAnimationFrame(frame);
    };
    state.playing = requestAnimationFrame(frame);
  }

  function pause() {
    if (state.playing !== null) cancelAnimationFrame(state.playing);
    state.playing = null;
    by("play").textContent = "Play";
    by("play").setAttribute("aria-pressed", "false");
  }

  KEYS.forEach((key) => by(key).addEventListener("change", select));
  by("time").addEventListener("input", () => { pause(); show(Number(by("time").value)); });
  by("play").addEventListener("click", play);
  by("fixed").addEventListener("change", () => paint(state.step));
  by("node").addEventListener("change", find);
  by("closer").addEventListener("click", () => graph.zoom(0.7));
  by("farther").addEventListener("click", () => graph.zoom(1 / 0.7));
  by("whole").addEventListener("click", graph.whole);
  by("strongest").addEventListener("click", () => {
    const values = Array.from(state.wave.at(state.step), Math.abs);
    choose(values.indexOf(Math.max(...values)));
  });
  by("names").replaceChildren(...GWN.graph.names.map((name) => new Option(name)));
  open(offer({}), () => choose(GWN.graph.centre));
  GWN.state = state;
})(window.GWN);

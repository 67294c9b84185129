// The charts: three over one time axis, drawn when the wave changes; while it plays, only a cursor moves.
"use strict";
(function (GWN) {
  const LEFT = 52, RIGHT = 10, TOP = 6, BOTTOM = 18;

  const raised = (power) => [...String(power)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");

  GWN.number = function (value, digits) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e5 || size < 1e-3)) {
      const [head, power] = value.toExponential(1).split("e");
      const times = head.replace(".0", "").replace("-", "−");
      return (/^−?1$/.test(times) ? times + "0" : times + "·10") + raised(Number(power));
    }
    return String(Number(value.toPrecision(digits || 3))).replace("-", "−");
  };

  // A number of the table, which is told from others like it: with every digit before the point.
  GWN.inFull = function (value) {
    const size = Math.abs(value);
    if (!Number.isFinite(value) || (size && (size < 1e-3 || size >= 1e15))) return GWN.number(value);
    const decimals = size ? Math.max(0, 3 - Math.floor(Math.log10(size))) : 0;
    return value.toLocaleString("en", { maximumFractionDigits: decimals }).replace("-", "−");
  };

  // Round numbers, about so many, and three at least: one alone says nothing of the scale.
  GWN.ticks = function (low, high, about) {
    const rough = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(rough));
    const within = (step) => {
      const from = Math.ceil(low / step - 1e-9), to = Math.floor(high / step + 1e-9);
      return Array.from({ length: Math.max(0, to - from + 1) }, (_, k) => (from + k) * step);
    };
    const steps = [0.5, 1, 2, 5, 10].map((m) => m * power);
    let k = steps.findIndex((step) => step >= rough);
    while (k > 0 && within(steps[k]).length < 3) k--;
    return within(steps[k]);
  };

  // Powers of ten of one axis, all written alike: 10⁵ stood above 10000.
  GWN.powers = function (powers) {
    const long = powers.some((power) => power >= 5 || power < -3);
    return powers.map((power) => (long && power ? "10" + raised(power) : GWN.number(10 ** power)));
  };

  function prepare(canvas) {
    const box = canvas.getBoundingClientRect(), ratio = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    return { pen, width: box.width, height: box.height };
  }

  // Axes; the functions that turn a time and a value into a place.
  function frame(canvas, theme, end, low, high, log) {
    canvas.style.background = theme.paper;
    const { pen, width, height } = prepare(canvas);
    const bend = log ? Math.log10 : (v) => v;
    const [bottom, top] = [bend(low), bend(high)];
    const x = (time) => LEFT + ((width - LEFT - RIGHT) * time) / (end || 1);
    const y = (value) => height - BOTTOM - ((height - TOP - BOTTOM) * (bend(log ? Math.max(value, low) : value) - bottom)) / (top - bottom || 1);
    pen.font = "11px " + theme.font;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const powers = [];
    if (log) for (let k = Math.ceil(bottom); k <= top; k += Math.max(1, Math.ceil((top - bottom) / 4))) powers.push(k);
    const values = log ? powers.map((power) => 10 ** power) : GWN.ticks(low, high, 4);
    const texts = log ? GWN.powers(powers) : values.map((value) => GWN.number(value));
    values.forEach((value, k) => {
      pen.strokeStyle = theme.line;
      pen.beginPath();
      pen.moveTo(LEFT, y(value));
      pen.lineTo(width - RIGHT, y(value));
      pen.stroke();
      pen.fillStyle = theme.soft;
      pen.fillText(texts[k], LEFT - 5, y(value));
    });
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const time of GWN.ticks(0, end, 5)) pen.fillText(GWN.number(time), Math.min(x(time), width - 10), height - BOTTOM + 4);
    return { pen, x, y, width, height };
  }

  function line(chart, points, colour, dash, thick) {
    const { pen, x, y } = chart;
    pen.strokeStyle = colour;
    pen.lineWidth = thick || 1.8;
    pen.setLineDash(dash);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, chart.width - LEFT - RIGHT, chart.height - BOTTOM + 1);
    pen.clip();
    pen.beginPath();
    const near = (place) => Math.max(-chart.height, Math.min(2 * chart.height, place));  // a line far away has no dashes
    points.forEach(([time, value], k) => (k ? pen.lineTo(x(time), near(y(value))) : pen.moveTo(x(time), near(y(value)))));
    pen.stroke();
    if (points.length === 1) {  // a network of one step has one energy
      pen.beginPath();
      pen.arc(x(points[0][0]), near(y(points[0][1])), dash.length ? 3 : 4.5, 0, 7);  // what is solid shows behind it
      pen.fillStyle = colour;
      pen.fill();
    }
    pen.restore();
    pen.setLineDash([]);
  }

  GWN.Charts = function (box) {
    let theme = null, end = 1, job = 0;
    const halves = (wave, values) => values.map((value, n) => [wave.time(n + 0.5), value]);

    // `waves` are one or two; the second is drawn in another colour, dashed.
    this.draw = function (waves, node, length) {
      theme = GWN.theme();
      end = length;
      const colours = [theme.below, theme.above], dashes = [[], [5, 3]];
      const traces = waves.map((wave) => wave.states.map((state, n) => [wave.time(n), state[node]]));
      const sizes = traces.map((trace) => Math.max(1e-12, ...trace.map(([, value]) => Math.abs(value))));
      const size = Math.min(Math.max(...sizes), 4 * Math.min(...sizes));  // one that grows leaves the frame
      const waveform = frame(box.waveform, theme, end, -size * 1.08, size * 1.08, false);
      traces.forEach((trace, k) => line(waveform, trace, colours[k], dashes[k]));

      const shown = waves.flatMap((wave) => (waves.length > 1 ? wave.energy : [...wave.energy, ...wave.kinetic, ...wave.potential]));
      const most = Math.max(1e-12, ...shown), least = Math.min(most, ...waves.flatMap((wave) => wave.energy).filter((value) => value > 0));
      const log = most > 30 * least, low = log ? Math.max(most / 1e18, least / 3) : Math.min(0, ...shown) * 1.1;
      const energy = frame(box.energy, theme, end, low, most * (log ? 2 : 1.1), log);
      waves.forEach((wave, k) => {
        line(energy, halves(wave, wave.energy), k ? colours[1] : theme.ink, dashes[k]);
        if (waves.length === 1) {
          line(energy, halves(wave, wave.kinetic), theme.above, [6, 3], 1.5);
          line(energy, halves(wave, wave.potential), theme.below, [2, 3], 1.5);
        }
      });
      this.spectra(waves);
    };

    // One column of colour a step, a few a frame, so that nothing waits for it.
    this.spectra = function (waves) {
      const mine = ++job;
      const list = [[box.spectrum, waves[0]], ...(waves[1] ? [[box.second, waves[1]]] : [])].map(([canvas, wave]) => {
        const chart = frame(canvas, theme, end, 0, 2, false), last = wave.states.length - 1;
        return { chart, wave, stride: Math.max(1, Math.ceil(last / 60)), n: 0, last };
      });
      const work = () => {
        const until = performance.now() + 6;
        while (mine === job && list.length && performance.now() < until) {
          const { chart, wave, stride, n, last } = list[0];
          if (n > last) { list.shift(); continue; }
          const shares = wave.spectrum(n), from = chart.x(wave.time(n - stride / 2)), to = chart.x(wave.time(n + stride / 2));
          shares.forEach((share, b) => {
            const high = chart.y((2 * (b + 1)) / GWN.BINS), low = chart.y((2 * b) / GWN.BINS);
            chart.pen.globalAlpha = Math.min(1, Math.sqrt(share) * 1.6);
            chart.pen.fillStyle = theme.below;
            chart.pen.fillRect(from, high, to - from + 0.6, low - high + 0.3);
          });
          chart.pen.globalAlpha = 1;
          list[0].n += stride;
        }
        if (mine === job && list.length) setTimeout(work, 0);
        else if (mine === job) document.body.dataset.spectra = "done";
      };
      delete document.body.dataset.spectra;
      setTimeout(work, 0);
    };

    this.cursor = function (time) {
      const width = box.waveform.clientWidth;
      box.cursor.style.transform = `translateX(${LEFT + ((width - LEFT - RIGHT) * time) / (end || 1)}px)`;
    };
    this.timeAt = (x) => Math.min(end, Math.max(0, ((x - LEFT) / (box.waveform.clientWidth - LEFT - RIGHT)) * end));
  };
})(window.GWN);

// The four charts beside the graph.
"use strict";
(function (GWN) {
  const BLUE = "#0072B2", ORANGE = "#D55E00", GREEN = "#009E73", GREY = "#8b95a1";
  const CONFIG = { displayModeBar: false, responsive: true };
  const cursor = (x) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: "#111", width: 1.2, dash: "dot" } });

  function layout(xTitle, yTitle, more) {
    const axis = (title) => ({
      title: { text: title, font: { size: 12 }, standoff: 4 }, gridcolor: "#e6e9ed", zerolinecolor: "#c3cad2",
      fixedrange: true, tickfont: { size: 11 },
    });
    const base = {
      margin: { l: 56, r: 8, t: 6, b: 38 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff", dragmode: false,
      font: { family: "system-ui, sans-serif", color: "#1b1f24" }, xaxis: axis(xTitle), yaxis: axis(yTitle),
      showlegend: false, hovermode: "x",
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 10 }, entrywidth: 0 },
    };
    Object.assign(base.yaxis, (more && more.yaxis) || {});
    return { ...base, ...more, yaxis: base.yaxis };
  }

  const line = (x, y, name, colour, more) => ({ type: "scatter", mode: "lines", x, y, name, line: { color: colour, width: 2, ...(more || {}) } });

  // Whole powers of ten where the values span some, 1, 2 and 5 between them where they do not.
  function powers(values) {
    const sizes = values.filter((v) => v > 0).map(Math.log10);
    if (!sizes.length) return {};
    const low = Math.floor(Math.min(...sizes)), high = Math.ceil(Math.max(...sizes));
    const stride = Math.max(1, Math.ceil((high - low) / 5)), ticks = [];
    for (let k = low; k <= high; k += stride) ticks.push(...(high - low <= 2 ? [1, 2, 5] : [1]).map((m) => m * 10 ** k));
    return { tickmode: "array", tickvals: ticks, ticktext: ticks.map((v) => GWN.number(v, 2).replace(".00e", "e")) };
  }

  GWN.Charts = function (boxes) {
    const middles = (wave) => wave.kinetic.map((_, n) => (wave.times[n] + wave.times[n + 1]) / 2);

    this.waveform = function (wave, node, step) {
      const trace = { ...line(wave.times, wave.of(node), GWN.plain(GWN.graph.names[node]), BLUE), mode: "lines+markers", marker: { size: 5 } };
      Plotly.react(boxes.waveform, [trace], layout("time", "amplitude", { shapes: [cursor(wave.times[step])] }), CONFIG);
    };

    this.measures = function (wave, entry, step) {
      const at = middles(wave), shapes = [cursor(wave.times[step])];
      const total = wave.kinetic.map((k, n) => k + wave.dirichlet[n]);
      const power = { yaxis: { type: "log", ...powers([...total, ...wave.kinetic, ...wave.dirichlet]) }, shapes };
      Plotly.react(boxes.energy, [
        line(at, total, "sum", "#111"), line(at, wave.kinetic, "kinetic", ORANGE, { dash: "dash" }),
        line(at, wave.dirichlet, "Dirichlet", GREEN, { dash: "dot" }),
      ], layout("time", "energy", { ...power, showlegend: true }), CONFIG);
      const end = wave.times[wave.steps - 1];
      Plotly.react(boxes.growth, [
        { ...line(at, wave.growth, "‖X(n+1)‖ / ‖X(n)‖, measured", BLUE), mode: "lines+markers", marker: { size: 5 } },
        line([0, end], [entry.growth, entry.growth], "fastest mode, by its root", entry.stable ? GREY : ORANGE, { dash: "dash" }),
      ], layout("time", "factor", { shapes, showlegend: true, yaxis: { rangemode: "tozero" } }), CONFIG);
    };

    this.moment = function (wave, step) {
      const bins = GWN.graph.bins, x = bins.slice(1).map((end, k) => (end + bins[k]) / 2);
      if (boxes.spectrum.layout) Plotly.restyle(boxes.spectrum, { y: [wave.spectrum(step)] }, [0]);
      else Plotly.newPlot(boxes.spectrum, [{
        type: "bar", x, y: wave.spectrum(step), marker: { color: BLUE }, hovertemplate: "%{y:.3f}<extra></extra>",
      }], layout("frequency, 0 smooth to 2 rough", "share of energy", { bargap: 0.05, yaxis: { rangemode: "tozero" } }), CONFIG);
      const time = wave.times[step];
      [boxes.waveform, boxes.energy, boxes.growth].forEach((box) => {
        if (box.layout) Plotly.relayout(box, { "shapes[0].x0": time, "shapes[0].x1": time });
      });
    };
  };
})(window.GWN);

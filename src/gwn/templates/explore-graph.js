// The graph: drawn once, then only recoloured. The edges lie on a plot of their own, below the nodes': whatever changes in
// a plot makes the library go through all of it, and that way a new colour costs the nodes alone.
"use strict";
(function (GWN) {
  const COLOURS = [[0, "#0b4a8f"], [0.25, "#4f9bd1"], [0.5, "#d9dce0"], [0.75, "#ee8f4a"], [1, "#a63603"]];
  const NODES = 0, CHOSEN = 1;
  const WHOLE = [-1.03, 1.03];

  function hasWebGL() {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl") || canvas.getContext("webgl2"));
  }

  GWN.Graph = function (box, below, onChoose) {
    const graph = GWN.graph, type = hasWebGL() ? "scattergl" : "scatter";
    const degree = new Array(graph.x.length).fill(0);
    graph.pairs.forEach((node) => (degree[node] += 1));
    const x = [], y = [];
    for (let k = 0; k < graph.edges.length; k += 2) {
      const a = graph.edges[k], b = graph.edges[k + 1];
      x.push(graph.x[a], graph.x[b], null);
      y.push(graph.y[a], graph.y[b], null);
    }
    const text = graph.names.map((name, i) =>
      GWN.plain(name) + (graph.classes ? "<br>class " + GWN.plain(graph.classes[i]) : "") + "<br>degree " + degree[i]);
    const crowd = Math.max(0.6, Math.min(1.8, 40 / Math.sqrt(graph.x.length)));
    const narrow = box.clientWidth < 500 ? 0.7 : 1;
    const size = degree.map((d) => narrow * crowd * Math.min(22, 5 + 1.5 * Math.sqrt(d)));
    const still = window.matchMedia("(pointer: coarse)").matches;  // a finger on the graph scrolls the page
    const dense = Math.max(0.12, Math.min(0.5, 2000 / (graph.edges.length / 2)));
    const lines = { type, mode: "lines", x, y, hoverinfo: "skip", line: { color: `rgba(70,80,90,${dense})`, width: 0.7 } };
    const traces = [
      {
        type, mode: "markers", x: graph.x, y: graph.y, hoverinfo: "text", hovertext: text,
        marker: { size, color: graph.x.map(() => 0), cmin: -1, cmax: 1, colorscale: COLOURS, showscale: false,
                  line: { color: "rgba(40,50,60,0.55)", width: 0.4 } },
      },
      {
        type, mode: "markers", x: [], y: [], hoverinfo: "skip",
        marker: { size: 24, symbol: "circle-open", color: "#111", line: { width: 2.5, color: "#111" } },
      },
    ];
    const axis = () => ({ visible: false, range: WHOLE.slice(), fixedrange: still });
    const layout = () => ({
      margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      hovermode: "closest", showlegend: false, dragmode: still ? false : "pan", xaxis: axis(),
      yaxis: { ...axis(), scaleanchor: "x" },
    });
    Plotly.newPlot(below, [lines], layout(), { staticPlot: true });
    Plotly.newPlot(box, traces, layout(), { displayModeBar: false, doubleClick: "reset" });
    const follow = () => {
      const now = box.layout;
      Plotly.relayout(below, { "xaxis.range": now.xaxis.range.slice(), "yaxis.range": now.yaxis.range.slice() });
    };
    box.on("plotly_relayouting", follow);
    box.on("plotly_relayout", follow);
    const fit = () => Promise.all([box, below].map((each) => Plotly.Plots.resize(each))).then(follow);
    new ResizeObserver(fit).observe(box);
    box.on("plotly_click", (event) => {
      const point = event.points.find((p) => p.curveNumber === NODES);
      if (point) onChoose(point.pointNumber);
    });
    this.neighbours = function (node) {
      const found = new Set();
      for (let k = 0; k < graph.pairs.length; k += 2) {
        if (graph.pairs[k] === node) found.add(graph.pairs[k + 1]);
        if (graph.pairs[k + 1] === node) found.add(graph.pairs[k]);
      }
      return [...found].sort((a, b) => degree[b] - degree[a]);
    };
    this.colour = function (values, reach) {
      const colour = Array.from(values, (v) => v / reach);
      Plotly.restyle(box, { "marker.color": [colour] }, [NODES]);
    };
    this.choose = (node) => Plotly.restyle(box, { x: [[graph.x[node]]], y: [[graph.y[node]]] }, [CHOSEN]);
    this.zoom = function (factor) {
      const ends = (range) => {
        const middle = (range[0] + range[1]) / 2, half = ((range[1] - range[0]) / 2) * factor;
        return [middle - half, middle + half];
      };
      const now = box.layout;
      Plotly.relayout(box, { "xaxis.range": ends(now.xaxis.range), "yaxis.range": ends(now.yaxis.range) });
    };
    this.whole = () => Plotly.relayout(box, { "xaxis.range": WHOLE.slice(), "yaxis.range": WHOLE.slice() });
  };
})(window.GWN);

// The graph that the page carries, with what each node is called and known by, and the matrix of its edges.
"use strict";
(function (GWN) {
  GWN.many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

  GWN.unpack = function (data) {
    const list = (text, Type) => (text ? GWN.array(text, Type) : null), { ids, classes } = data;
    const scaled = (text) => Float32Array.from(GWN.array(text, Int16Array), (value) => value / 32767);
    const numbers = GWN.array(data.numbers, Uint32Array), ends = GWN.array(data.ends, Uint16Array);
    const graph = {
      nodes: data.nodes, radius: data.radius, x: scaled(data.x), y: scaled(data.y), ends, classes,
      weights: list(data.weights, Float32Array), labels: list(data.labels, Int16Array),
      predicted: list(data.predicted, Int16Array), targets: list(data.targets, Float64Array),
      guesses: list(data.guesses, Float64Array), part: list(data.part, Uint8Array),
      shown: list(data.shown, Uint32Array) || Uint32Array.from({ length: ends.length / 2 }, (_, k) => k),
      name: (i) => (ids ? ids[i] : "node " + numbers[i]),
      called: (i) => (ids ? "node " + ids[i] : "node " + numbers[i]),
      key: (i) => (ids ? ids[i] : String(numbers[i])),  // what find() finds it by, in an address
      find(text) {
        const wanted = text.trim();
        if (ids) return ids.indexOf(ids.includes(text) ? text : wanted);
        return /^(node )?\d+$/.test(wanted) ? numbers.indexOf(Number(wanted.replace("node ", ""))) : -1;
      },
    };
    const counts = (classes || []).map(() => 0);
    for (const label of graph.labels || graph.predicted || []) if (label >= 0) counts[label]++;
    graph.largest = [...counts.keys()].sort((a, b) => counts[b] - counts[a]);
    const op = GWN.operator(graph.nodes, ends, graph.weights);
    const className = (index) => (index < 0 ? "class unknown" : "class " + classes[index]);
    const neighbours = (i) => GWN.many(op.start[i + 1] - op.start[i], "neighbour");
    graph.about = (i) => {
      const facts = [graph.labels ? className(graph.labels[i]) : graph.targets ? known(i) : "", neighbours(i)];
      return ` (${facts.filter(Boolean).join(", ")})`;
    };
    const known = (i) => (Number.isNaN(graph.targets[i]) ? "number unknown" : "number " + GWN.inFull(graph.targets[i]));
    graph.facts = (i) => {
      const facts = [];
      if (graph.targets) facts.push(known(i));
      if (graph.guesses) facts.push("predicted " + GWN.inFull(graph.guesses[i]));
      if (graph.labels) facts.push(className(graph.labels[i]));
      if (graph.predicted) facts.push("predicted " + classes[graph.predicted[i]]);
      if (graph.part && graph.part[i]) facts.push(["", "training", "validation", "test"][graph.part[i]] + " node");
      return [...facts, neighbours(i)];
    };
    return { graph, op };
  };
})(window.GWN);

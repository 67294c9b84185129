// The picture of a graph: edges and resting nodes on one canvas, drawn once; what moves on another, above it.
"use strict";
(function (GWN) {
  const STEPS = 21;  // of colour from the smallest number to the largest
  const LEVELS = 24;  // of colour and size, from rest to the end of the scale

  // Colours of the page's own style sheet, so that light and dark are said in one place.
  GWN.theme = function () {
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
    const names = ["ink", "soft", "paper", "line", "edge", "rest", "below", "below-far", "above", "above-far", "right", "wrong"];
    return {
      ...Object.fromEntries(names.map((name) => [name, of("--" + name)])),
      classes: of("--classes").split(/\s+/), dark: of("--dark") === "1", font: getComputedStyle(document.body).fontFamily,
    };
  };

  const channels = (colour) => (colour[0] === "#" ? [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16)) : colour.match(/\d+/g).map(Number));
  const mix = (a, b, w) => {
    const [x, y] = [channels(a), channels(b)];
    return "rgb(" + x.map((value, k) => Math.round(value + w * (y[k] - value))).join(",") + ")";
  };
  // Diverging and centred at zero: at rest, then below (blue) or above (orange), then the far end of each.
  GWN.amplitudeColour = (theme, value) => {
    const side = value < 0 ? "below" : "above", size = Math.min(1, Math.abs(value));
    return size < 0.5 ? mix(theme.rest, theme[side], size * 2) : mix(theme[side], theme[side + "-far"], size * 2 - 1);
  };
  // The classes with a colour of their own: where there are more classes than colours, the largest; others are as at rest.
  GWN.coloured = (theme, graph) => graph.largest.slice(0, theme.classes.length).sort((a, b) => a - b);
  GWN.classColour = (theme, graph, index) => theme.classes[GWN.coloured(theme, graph).indexOf(index)] || theme.rest;

  // One picture; several share a `view` { zoom, x, y }, so that they show the same part.
  GWN.Picture = function (still, live, graph, view) {
    const nodes = graph.x.length, level = new Uint8Array(nodes), order = new Uint32Array(nodes);
    const counts = new Uint32Array(LEVELS + 2);
    let width = 0, height = 0, ratio = 1, theme = null, atlas = null, cell = 0, disc = 3;
    let image = null, pixels = null, atlasPixels = null, discs = null;
    const half = new Float32Array(LEVELS + 1);  // of the square that holds a disc of each size

    const spread = (values) => { let low = Infinity, high = -Infinity; for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); } return [low, high]; };
    const [left, right] = spread(graph.x), [bottom, top] = spread(graph.y);
    function unit() {
      const margin = 6 * graph.radius;  // a node is drawn larger where it moves, and ringed
      return view.zoom * Math.min((width - 24) / (right - left + margin), (height - 24) / (top - bottom + margin));
    }
    const toX = (x) => width / 2 + unit() * (x - (left + right) / 2 - view.x);
    const toY = (y) => height / 2 - unit() * (y - (top + bottom) / 2 - view.y);
    const sx = new Float32Array(nodes), sy = new Float32Array(nodes), px = new Int32Array(nodes), py = new Int32Array(nodes);

    this.canvases = [still, live];
    this.resize = function () {
      const box = live.parentElement.getBoundingClientRect();
      ratio = Math.min(2, window.devicePixelRatio || 1);
      width = Math.round(box.width);
      height = Math.round(box.height);
      image = new ImageData(Math.max(1, width * ratio), Math.max(1, height * ratio));
      pixels = new Uint32Array(image.data.buffer);
      for (const canvas of [still, live]) {
        canvas.width = width * ratio;
        canvas.height = height * ratio;
        canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
      }
    };

    // A disc for every colour and size, made once; drawing a node is then copying one, pixel by pixel.
    function makeAtlas(colouring) {
      const radius = (size) => disc * (1 + 0.9 * size * size), glow = theme.dark ? 1.3 : 0.6;
      for (let k = 0; k <= LEVELS; k++) {
        const size = k / LEVELS;
        half[k] = Math.ceil((radius(size) + (size > 0.3 ? disc * glow * size : 0) + 1) * ratio);
      }
      cell = 2 * half[LEVELS];
      atlas = document.createElement("canvas");
      atlas.width = cell * (LEVELS + 1);
      atlas.height = cell * colouring.kinds.length;
      const pen = atlas.getContext("2d");
      colouring.kinds.forEach((kind, row) => {
        for (let k = 0; k <= LEVELS; k++) {
          const size = k / LEVELS, x = (k + 0.5) * cell, y = (row + 0.5) * cell;
          pen.fillStyle = kind(size);
          if (size > 0.3) {
            pen.globalAlpha = 0.28 * (size - 0.3);
            pen.beginPath();
            pen.arc(x, y, (radius(size) + disc * glow * size) * ratio, 0, 7);
            pen.fill();
          }
          pen.globalAlpha = 1;
          pen.beginPath();
          pen.arc(x, y, radius(size) * ratio, 0, 7);
          pen.fill();
        }
      });
      atlasPixels = pen.getImageData(0, 0, atlas.width, atlas.height);
      discs = new Uint32Array(atlasPixels.data.buffer);
    }

    // Edges and nodes at rest. `signs` of the drawn edges in [-1, 1] colour them; otherwise short ones are the plainer.
    this.rest = function (colouring, signs) {
      theme = GWN.theme();
      still.style.background = theme.paper;  // printed with it: the colours of the dark page are made for its ground
      disc = Math.max(1.3, Math.min(12, graph.radius * unit()));
      for (let i = 0; i < nodes; i++) {
        sx[i] = toX(graph.x[i]);
        sy[i] = toY(graph.y[i]);
        px[i] = Math.round(sx[i] * ratio);
        py[i] = Math.round(sy[i] * ratio);
      }
      makeAtlas(colouring);
      const pen = still.getContext("2d");
      pen.clearRect(0, 0, width, height);
      const groups = signs ? 8 : 3, { ends, shown } = graph, reach = 0.35 * Math.min(width, height) * view.zoom;
      const members = Array.from({ length: groups }, () => []);
      for (let k = 0; k < shown.length; k++) {
        const a = ends[2 * shown[k]], b = ends[2 * shown[k] + 1];
        const away = Math.max(sx[a], sx[b]) < 0 || Math.min(sx[a], sx[b]) > width || Math.max(sy[a], sy[b]) < 0 || Math.min(sy[a], sy[b]) > height;
        if (away) continue;
        const far = Math.hypot(sx[a] - sx[b], sy[a] - sy[b]) / reach;
        members[signs ? Math.min(7, Math.floor((signs[k] + 1) * 4)) : Math.min(2, Math.floor(3 * far))].push(a, b);
      }
      const faint = Math.min(0.7, Math.max(0.25, 30 / Math.sqrt(shown.length + 1)));
      members.forEach((group, g) => {
        const sign = (g - 3.5) / 3.5;
        pen.strokeStyle = signs ? theme[sign < 0 ? "below" : "above"] : theme.edge;
        pen.globalAlpha = signs ? Math.min(1, 1.6 * faint) * (0.15 + 0.85 * Math.abs(sign)) : faint * [0.75, 0.42, 0.2][g];
        pen.lineWidth = Math.max(0.6, Math.min(1.4, disc / 4));
        pen.beginPath();
        for (let k = 0; k < group.length; k += 2) {
          pen.moveTo(sx[group[k]], sy[group[k]]);
          pen.lineTo(sx[group[k + 1]], sy[group[k + 1]]);
        }
        pen.stroke();
      });
      pen.globalAlpha = 1;
      inPixels(pen, () => { for (let i = 0; i < nodes; i++) stamp(pen, i, colouring.row(i, 0), 0); });
    };

    function inPixels(pen, draw) {
      pen.setTransform(1, 0, 0, 1, 0, 0);
      draw();
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    // In pixels of the screen: unscaled and at whole numbers, a disc is copied as it is.
    function stamp(pen, node, row, k) {
      const h = half[k], x = px[node] - h, y = py[node] - h;
      if (x < -2 * h || y < -2 * h || x > width * ratio || y > height * ratio) return;
      pen.drawImage(atlas, (k + 0.5) * cell - h, (row + 0.5) * cell - h, 2 * h, 2 * h, x, y, 2 * h, 2 * h);
    }

    // What moves is copied into an array of pixels, which is several times faster than asking the canvas three thousand
    // times where no graphics card helps. A pixel that covers nothing or everything needs no mixing.
    function blit(node, row, k) {
      const side = 2 * half[k], across = image.width, down = image.height, left = px[node] - half[k], top = py[node] - half[k];
      const sheet = atlasPixels.width, from = ((row + 0.5) * cell - half[k]) * sheet + (k + 0.5) * cell - half[k];
      const x0 = Math.max(0, -left), x1 = Math.min(side, across - left), y1 = Math.min(side, down - top);
      for (let y = Math.max(0, -top); y < y1; y++) {
        let source = from + y * sheet + x0, target = (top + y) * across + left + x0;
        for (let x = x0; x < x1; x++, source++, target++) {
          const colour = discs[source], alpha = colour >>> 24;
          if (alpha === 0) continue;
          const below = pixels[target];
          pixels[target] = alpha === 255 || below === 0 ? colour : over(colour, alpha, below);
        }
      }
    }

    function over(colour, alpha, below) {
      const under = ((below >>> 24) * (255 - alpha)) / 255, sum = alpha + under;
      let mixed = Math.round(sum) << 24;
      for (let shift = 0; shift < 24; shift += 8) {
        mixed |= Math.round((((colour >>> shift) & 255) * alpha + ((below >>> shift) & 255) * under) / sum) << shift;
      }
      return mixed >>> 0;
    }

    // Nodes that move, the strongest on top; those at rest are on the other canvas already.
    this.move = function (values, scale, colouring, marked) {
      const pen = live.getContext("2d");
      counts.fill(0);
      for (let i = 0; i < nodes; i++) {
        level[i] = Math.round(Math.sqrt(Math.min(1, Math.abs(values[i]) / scale)) * LEVELS);
        counts[level[i] + 1]++;
      }
      for (let k = 1; k < counts.length; k++) counts[k] += counts[k - 1];
      const first = counts[1];
      for (let i = 0; i < nodes; i++) order[counts[level[i]]++] = i;
      pixels.fill(0);
      for (let k = first; k < nodes; k++) blit(order[k], colouring.row(order[k], values[order[k]]), level[order[k]]);
      pen.putImageData(image, 0, 0);
      for (const [node, strong] of marked) {
        pen.strokeStyle = strong ? theme.ink : theme.soft;
        pen.lineWidth = strong ? 2 : 1.5;
        pen.beginPath();
        pen.arc(sx[node], sy[node], disc * 1.9 + 4, 0, 7);
        pen.stroke();
      }
    };

    // The node nearest to a point of the screen, if it is near enough for a finger or a mouse.
    this.nodeAt = function (x, y, slack) {
      let best = -1, least = (disc + slack) ** 2;
      for (let i = 0; i < nodes; i++) {
        const d = (sx[i] - x) ** 2 + (sy[i] - y) ** 2;
        if (d < least) { least = d; best = i; }
      }
      return best;
    };
    // From one node to the next in a direction, for the arrow keys.
    this.towards = function (node, dx, dy) {
      let best = -1, least = Infinity;
      for (let i = 0; i < nodes; i++) {
        const x = sx[i] - sx[node], y = sy[i] - sy[node], along = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
        if (i !== node && along > 0 && along + 3 * aside < least) { least = along + 3 * aside; best = i; }
      }
      return best;
    };
    this.positionOf = (node) => [sx[node], sy[node]];
    this.size = () => [width, height];
    // Into view, if it is not: in the middle then. Whether anything moved.
    this.follow = function (node) {
      const [x, y, edge] = [sx[node], sy[node], 12];
      if (x >= edge && y >= edge && x <= width - edge && y <= height - edge) return false;
      this.pan(width / 2 - x, height / 2 - y);
      return true;
    };
    this.pan = (dx, dy) => { view.x -= dx / unit(); view.y += dy / unit(); };
    this.zoomAt = function (factor, x, y) {
      const zoom = Math.min(40, Math.max(1, view.zoom * factor)), change = zoom / view.zoom;
      const ax = (x - width / 2) / unit(), ay = (height / 2 - y) / unit();
      view.x += ax * (1 - 1 / change);
      view.y += ay * (1 - 1 / change);
      view.zoom = zoom;
      if (zoom === 1) { view.x = 0; view.y = 0; }
    };
  };

  // How nodes are coloured: a list of colours by size (`kinds`), and which of them a node has (`row`); of numbers, also what
  // the first and the last colour stand for (`ends`).
  GWN.colourings = function (graph) {
    const shade = (theme, colour, size) => mix(theme.dark ? mixHex(colour, "#10151b", 0.55) : mixHex(colour, "#ffffff", 0.55), colour, Math.min(1, 0.15 + size));
    const mixHex = (a, b, w) => "#" + channels(a).map((v, k) => Math.round(v + w * (channels(b)[k] - v)).toString(16).padStart(2, "0")).join("");
    const byClass = (labels) => (theme) => ({
      kinds: [theme.rest, ...graph.classes.map((_, k) => GWN.classColour(theme, graph, k))].map((colour) => (size) => shade(theme, colour, size)),
      row: (i) => labels[i] + 1,
    });
    const all = {
      amplitude: (theme) => ({
        kinds: [-1, 1].map((sign) => (size) => GWN.amplitudeColour(theme, sign * size)), row: (i, value) => (value < 0 ? 0 : 1),
      }),
    };
    // Numbers in steps between two ends; the known and the predicted ones between the same.
    const byNumber = (numbers, low, high) => (theme) => ({
      ends: [low, high],
      kinds: [theme.rest, ...Array.from({ length: STEPS }, (_, k) => GWN.amplitudeColour(theme, (2 * k) / (STEPS - 1) - 1))].map((colour) => (size) => shade(theme, colour, size)),
      row: (i) => (Number.isNaN(numbers[i]) ? 0 : 1 + Math.round((STEPS - 1) * (high > low ? (numbers[i] - low) / (high - low) : 0.5))),
    });
    const { targets, guesses } = graph;
    if (targets || guesses) {
      const there = [...(targets || []), ...(guesses || [])].filter((value) => !Number.isNaN(value)), low = Math.min(...there), high = Math.max(...there);
      if (targets) all.number = byNumber(targets, low, high);
      if (guesses) all.prediction = byNumber(guesses, low, high);
      if (targets && guesses) {
        const off = guesses.map((value, i) => value - targets[i]), most = off.reduce((size, value) => Math.max(size, Math.abs(value) || 0), 0);
        all.mistake = byNumber(off, -most, most);
      }
    }
    if (graph.labels) all.class = byClass(graph.labels);
    if (graph.predicted) all.prediction = byClass(graph.predicted);
    if (graph.predicted && graph.labels) all.mistake = (theme) => ({
      kinds: [theme.rest, theme.right, theme.wrong].map((colour) => (size) => shade(theme, colour, size)),
      row: (i) => (graph.labels[i] < 0 ? 0 : graph.labels[i] === graph.predicted[i] ? 1 : 2),
    });
    return all;
  };
})(window.GWN);

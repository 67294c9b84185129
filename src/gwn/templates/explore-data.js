// The numbers of a wave: loaded as a script when it is first chosen, since a page on the disk may not fetch files.
"use strict";
(function (GWN) {
  const FULL = 32767;

  function integers(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Int16Array(bytes.buffer);
  }

  function decode(raw) {
    const steps = raw.times.length;
    const all = integers(raw.amplitudes);
    const bins = integers(raw.spectrum);
    const nodes = all.length / steps;
    const width = bins.length / steps;
    return {
      times: raw.times, kinetic: raw.kinetic, dirichlet: raw.dirichlet, growth: raw.growth, steps, nodes,
      // Amplitudes at a place between two steps, by straight lines.
      at(place) {
        const n = Math.min(Math.floor(place), steps - 1), m = Math.min(n + 1, steps - 1), w = place - n;
        const a = (raw.scales[n] / FULL) * (1 - w), b = (raw.scales[m] / FULL) * w;
        const out = new Float32Array(nodes);
        for (let i = 0; i < nodes; i++) out[i] = a * all[n * nodes + i] + b * all[m * nodes + i];
        return out;
      },
      of(node) {
        return raw.times.map((_, n) => (raw.scales[n] / FULL) * all[n * nodes + node]);
      },
      spectrum(n) {
        return Array.from(bins.subarray(n * width, (n + 1) * width), (v) => v / FULL);
      },
    };
  }

  GWN.load = function (number, then) {
    const ready = () => {
      if (!GWN.waves[number].at) GWN.waves[number] = decode(GWN.waves[number]);
      then(GWN.waves[number]);
    };
    if (GWN.waves[number]) return ready();
    const script = document.createElement("script");
    script.src = "data/wave-" + String(number).padStart(3, "0") + ".js";
    script.onload = ready;
    document.head.append(script);
  };

  // The size that all but the largest 2 % of the amplitudes stay below; one extreme node should not pale the rest.
  GWN.reach = function (values) {
    const sizes = Float32Array.from(values, Math.abs).filter((v) => v > 0).sort();
    return sizes.length ? sizes[Math.floor(0.98 * (sizes.length - 1))] : 1;
  };

  GWN.number = function (value, digits) {
    if (value === null || value === undefined) return "unknown";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(2);
    return String(Number(value.toPrecision(digits || 3)));
  };

  // Plotly reads a little HTML in its labels; a node's name is only ever text.
  GWN.plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
})(window.GWN);

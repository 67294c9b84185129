// The mathematics: u_tt = L_a u on the drawn graph, by the schemes of gwn.schemes; energies, frequencies and growth.
"use strict";
(function (GWN) {
  GWN.array = (text, Type) => new Type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

  // Rows of S = D^-1/2 A D^-1/2 and of P = D^-1 A, from every undirected edge once: `ends` are pairs of node numbers.
  GWN.operator = function (nodes, ends, weights) {
    const edges = ends.length / 2, degree = new Float64Array(nodes), start = new Uint32Array(nodes + 1);
    const weight = (e) => (weights ? weights[e] : 1);
    for (let k = 0; k < 2 * edges; k++) {
      degree[ends[k]] += weight(k >> 1);
      start[ends[k] + 1]++;
    }
    for (let i = 0; i < nodes; i++) start[i + 1] += start[i];
    const place = start.slice(0, nodes), other = new Uint32Array(2 * edges), edge = new Uint32Array(2 * edges);
    const symmetric = new Float64Array(2 * edges), walk = new Float64Array(2 * edges);
    for (let k = 0; k < 2 * edges; k++) {
      const i = ends[k], j = ends[k ^ 1], slot = place[i]++;
      other[slot] = j;
      edge[slot] = k >> 1;
      symmetric[slot] = weight(k >> 1) / Math.sqrt(degree[i] * degree[j]);
      walk[slot] = weight(k >> 1) / degree[i];
    }
    return { nodes, start, other, edge, degree, symmetric, walk };
  };

  function multiply(op, values, x, out) {
    const { nodes, start, other } = op;
    for (let i = 0; i < nodes; i++) {
      let sum = 0;
      for (let k = start[i]; k < start[i + 1]; k++) sum += values[k] * x[other[k]];
      out[i] = sum;
    }
    return out;
  }

  GWN.dot = (x, y) => { let sum = 0; for (let i = 0; i < x.length; i++) sum += x[i] * y[i]; return sum; };
  function combine(a, x, b, y) {  // a plain loop: a function for every number is ten times slower
    const out = new Float64Array(x.length);
    for (let i = 0; i < x.length; i++) out[i] = a * x[i] + b * y[i];
    return out;
  }

  // J_m(z) by the trapezoidal rule, which is exact to rounding for a periodic function.
  function bessel(m, z) {
    const points = 64 + 4 * Math.ceil(m + z);
    let sum = 0;
    for (let k = 0; k < points; k++) {
      const angle = (2 * Math.PI * k) / points;
      sum += Math.cos(m * angle - z * Math.sin(angle));
    }
    return sum / points;
  }

  // cos(tau sqrt(I - S)) and sin(tau sqrt(I - S)) / sqrt(I - S) as series in Chebyshev polynomials of S.
  function series(tau) {
    const z = Math.SQRT2 * tau, terms = Math.ceil(tau) + 12, odd = [];
    for (let m = 1; m < 4 * terms; m += 2) odd.push(bessel(m, z));
    const cosine = [], sine = [];
    for (let k = 0; k <= terms; k++) {
      cosine.push((k ? 2 : 1) * bessel(2 * k, z));
      sine.push((k ? 2 : 1) * Math.SQRT2 * odd.slice(k).reduce((a, b) => a + b, 0));
    }
    for (const weights of [cosine, sine]) while (weights.length > 2 && Math.abs(weights.at(-1)) < 1e-17) weights.pop();
    return { cosine, sine };
  }

  function clenshaw(product, x, weights) {
    let later = new Float64Array(x.length), latest = new Float64Array(x.length);
    for (let k = weights.length - 1; k >= 0; k--) {
      const image = product(latest);
      for (let i = 0; i < x.length; i++) later[i] = weights[k] * x[i] + (k ? 2 : 1) * image[i] - later[i];
      [later, latest] = [latest, later];
    }
    return latest;
  }

  // Conjugate gradients for (I - scale L) y = right.
  function solve(force, scale, right) {
    const y = new Float64Array(right.length), residual = Float64Array.from(right);
    let direction = Float64Array.from(right), square = GWN.dot(residual, residual);
    const enough = 1e-24 * square;
    for (let turn = 0; turn < 500 && square > enough; turn++) {
      const image = combine(1, direction, -scale, force(direction));
      const length = square / GWN.dot(direction, image);
      for (let i = 0; i < y.length; i++) { y[i] += length * direction[i]; residual[i] -= length * image[i]; }
      const next = GWN.dot(residual, residual);
      direction = combine(1, residual, next / square, direction);
      square = next;
    }
    return y;
  }

  // The numbers (x, x_prev, force) of X(n+1) = x X(n) + x_prev X(n-1) + force M X(n): of the step from X(0), in which the
  // velocity stands in the place of X(n-1), and of all later ones. `symbol` is M's eigenvalue where L_a has mu.
  GWN.DAMPING = 0.1;
  const SCHEMES = {
    leapfrog: (tau) => ({ first: [1, tau, tau * tau / 2], later: [2, -1, tau * tau] }),
    "leapfrog-rescaled"(tau, low, high) {
      const plain = numbers("leapfrog", tau, low, high), rho = Math.max(rootOf(plain, low), rootOf(plain, high));
      return {
        first: [1 / rho, tau / rho, tau * tau / 2 / rho], later: [2 / rho, -1 / (rho * rho), tau * tau / rho],
      };
    },
    damped(tau) {
      const half = GWN.DAMPING * tau / 2, scale = 1 / (1 + half);
      return { first: [1, tau * (1 - half), tau * tau / 2], later: [2 * scale, -(1 - half) * scale, tau * tau * scale] };
    },
    heat: (tau) => ({ first: [1, 0, tau], later: [1, 0, tau] }),
    newmark: (tau) => ({ first: [-1, tau, 2], later: [-2, -1, 4], symbol: (mu) => 1 / (1 - tau * tau / 4 * mu) }),
    bessel: (tau) => ({
      first: [0, 1, 1], later: [0, -1, 2],
      symbol: (mu) => (mu <= 0 ? Math.cos(tau * Math.sqrt(-mu)) : Math.cosh(tau * Math.sqrt(mu))),
    }),
  };

  const numbers = (scheme, tau, low, high) => ({ symbol: (mu) => mu, ...SCHEMES[scheme](tau, low, high) });

  function rootOf({ later: [x, previous, force], symbol }, mu) {
    const middle = (x + force * symbol(mu)) / 2, inside = middle * middle + previous;
    return inside < 0 ? Math.sqrt(-previous) : Math.abs(middle) + Math.sqrt(inside);
  }

  // The factor by which a step multiplies its fastest mode, eigenvalues of L_a between low and high.
  GWN.growth = function (scheme, tau, low, high) {
    const step = numbers(scheme, tau, low, high);
    let most = 0;
    for (let k = 0; k <= 200; k++) most = Math.max(most, rootOf(step, low + ((high - low) * k) / 200));
    return most;
  };

  // X(0) ... X(steps) from displacement and velocity; `laplacian` says { shift, walk }: L_a = shift I + S, or + P.
  GWN.integrate = function (op, laplacian, scheme, tau, steps, displacement, velocity, interval) {
    const values = laplacian.walk ? op.walk : op.symmetric;
    const image = new Float64Array(op.nodes);
    const product = (x) => multiply(op, values, x, image);
    const force = (x) => { product(x); for (let i = 0; i < x.length; i++) image[i] += laplacian.shift * x[i]; return image; };
    const { first, later } = numbers(scheme, tau, ...interval);
    const chebyshev = scheme === "bessel" ? series(tau) : null;
    const through = scheme === "newmark" ? (x) => solve(force, tau * tau / 4, x)
      : scheme === "bessel" ? (x) => clenshaw(product, x, chebyshev.cosine) : force;
    const states = [new Float64Array(displacement)];
    for (let n = 0; n < steps; n++) {
      const now = states[n], [a, b, c] = n ? later : first;
      if (!n && scheme === "newmark") {
        states.push(combine(a, now, 1, through(combine(c, now, b, velocity))));
      } else if (!n && scheme === "bessel") {
        states.push(combine(1, through(now), 1, clenshaw(product, velocity, chebyshev.sine)));
      } else {
        states.push(combine(1, combine(a, now, b, n ? states[n - 1] : velocity), c, through(now)));
      }
    }
    return states;
  };

  // A wave to look at: its states, its energies half-way between them, and how large it is in each. The potential energy
  // is <X(n+1), (m I - S) X(n)>, m = 1 or -shift, if larger: leapfrog keeps its sum with the kinetic one where L_a = S - m I.
  // Of a random walk everything is weighted by degree, in which it is symmetric.
  // `at` says how many steps of tau each state is away from the start, where not every step is kept.
  GWN.Wave = function (op, states, tau, walk, shift = -1, at = null) {
    const mass = Math.max(1, -shift), times = states.map((_, n) => tau * (at ? at[n] : n));
    const last = states.length - 1, unit = (i) => (walk ? op.degree[i] || 1 : 1), image = new Float64Array(op.nodes);
    this.states = states.map((state) => new Float32Array(state));
    this.end = times[last];
    this.kinetic = [];
    this.potential = [];
    this.energy = [];  // the sum of both
    this.differences = [];  // <X, (I - S) X>: how much neighbours differ
    this.norm = [];
    for (let n = 0; n <= last; n++) {
      const x = states[n], y = states[Math.min(n + 1, last)], span = times[n + 1] - times[n];
      multiply(op, walk ? op.walk : op.symmetric, x, image);
      let kinetic = 0, potential = 0, differences = 0, square = 0;
      for (let i = 0; i < op.nodes; i++) {
        const speed = (y[i] - x[i]) / span;
        kinetic += unit(i) * speed * speed;
        potential += unit(i) * y[i] * (mass * x[i] - image[i]);
        differences += unit(i) * x[i] * (x[i] - image[i]);
        square += unit(i) * x[i] * x[i];
      }
      if (n < last) { this.kinetic.push(kinetic); this.potential.push(potential); this.energy.push(kinetic + potential); }
      this.differences.push(differences);
      this.norm.push(Math.sqrt(square));
    }
    const known = [];  // found when asked for: sorting every state takes longer than the wave itself
    this.reach = (n) => (known[n] ??= reachOf(this.states[n]));
    this.widest = () => Math.max(...states.map((_, n) => this.reach(n)));

    // Which state it is at a time, and the time of a state; both between two states too.
    this.place = function (time) {
      let n = 0;
      while (n < last - 1 && times[n + 1] <= time) n++;
      return Math.min(last, Math.max(0, n + (time - times[n]) / (times[n + 1] - times[n])));
    };
    this.time = function (place) {
      const n = Math.max(0, Math.min(last - 1, Math.floor(place))), w = Math.max(0, Math.min(1, place - n));
      return times[n] + w * (times[n + 1] - times[n]);
    };
    // Amplitudes between two steps, by straight lines.
    this.at = function (time, out) {
      const place = this.place(time), n = Math.floor(place), m = Math.min(n + 1, last), w = place - n;
      const a = this.states[n], b = this.states[m];
      for (let i = 0; i < out.length; i++) out[i] = a[i] + w * (b[i] - a[i]);
      return out;
    };
    this.scale = function (time) {
      const place = this.place(time), n = Math.floor(place), w = place - n;
      return this.reach(n) ** (1 - w) * this.reach(Math.min(n + 1, last)) ** w;
    };
    this.spectrum = (n) => energyByFrequency(op, walk, this.states[n]);
  };

  // The amplitude at which colours end: all but the largest 1 % stay below it, so that one node does not pale the rest.
  function reachOf(state) {
    const sizes = new Float32Array(state.length);
    for (let i = 0; i < state.length; i++) sizes[i] = Math.abs(state[i]);
    sizes.sort();
    const most = sizes[sizes.length - 1];
    return Math.max(sizes[Math.floor(0.99 * (sizes.length - 1))], 0.02 * most, 1e-30);
  }

  // The share of energy between frequencies: <x, T_k(S) x> for k below MOMENTS, two from every product, then the
  // integral of their series with Jackson's factors, which keep it positive. A frequency is an eigenvalue of I - S.
  const MOMENTS = 64;
  GWN.BINS = 24;
  const table = (function () {
    const rows = [], step = Math.PI / (MOMENTS + 1);
    for (let k = 0; k < MOMENTS; k++) {
      const factor = ((MOMENTS - k + 1) * Math.cos(k * step) + Math.sin(k * step) / Math.tan(step)) / (MOMENTS + 1);
      const upTo = (b) => {
        const theta = Math.acos(1 - (2 * b) / GWN.BINS);
        return (k ? (2 * Math.sin(k * theta)) / k : theta) / Math.PI;
      };
      rows.push(Float64Array.from({ length: GWN.BINS }, (_, b) => factor * (upTo(b + 1) - upTo(b))));
    }
    return rows;
  })();

  function energyByFrequency(op, walk, state) {
    let most = 1e-30;
    for (const value of state) most = Math.max(most, Math.abs(value));
    const x = Float64Array.from(state, (value, i) => (value / most) * (walk ? Math.sqrt(op.degree[i] || 1) : 1));
    let before = x, now = multiply(op, op.symmetric, x, new Float64Array(op.nodes));
    const moments = [GWN.dot(x, x), GWN.dot(x, now)];
    while (moments.length < MOMENTS) {
      moments.push(2 * GWN.dot(now, now) - moments[0]);
      const image = multiply(op, op.symmetric, now, new Float64Array(op.nodes));
      for (let i = 0; i < image.length; i++) image[i] = 2 * image[i] - before[i];
      [before, now] = [now, image];
      moments.push(2 * GWN.dot(before, now) - moments[1]);
    }
    const share = new Float64Array(GWN.BINS);
    for (let k = 0; k < MOMENTS; k++) for (let b = 0; b < GWN.BINS; b++) share[b] += table[k][b] * moments[k];
    return share.map((value) => (moments[0] > 0 ? Math.max(0, value) / moments[0] : 0));
  }

  // How many edges lie between a node and every other; -1 where none lead there.
  GWN.hops = function (op, node) {
    const hops = new Int32Array(op.nodes).fill(-1), queue = [node];
    hops[node] = 0;
    for (let head = 0; head < queue.length; head++) {
      const i = queue[head];
      for (let k = op.start[i]; k < op.start[i + 1]; k++) {
        if (hops[op.other[k]] < 0) { hops[op.other[k]] = hops[i] + 1; queue.push(op.other[k]); }
      }
    }
    return hops;
  };
})(window.GWN = {});

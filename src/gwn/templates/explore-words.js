// What one sees, in words: under the picture, and why a wave is bounded or grows.
"use strict";
(function (GWN) {
  const percent = (share) => (share < 0.001 ? "less than 0.1" : GWN.number(100 * share, 2)) + "\u00a0%";
  const many = GWN.many;
  const OPERATOR = { physical: "S − I", sym: "S, the paper's sign", "random-walk": "D⁻¹A − I", "klein-gordon": "S − 1.25 I" };

  GWN.operatorName = (laplacian) => OPERATOR[laplacian] || laplacian;

  GWN.colourEnd = (scale) => ` · colours end at ±${GWN.number(scale, 2)}`;
  GWN.panelTitle = (panel, scale) => panel.title + GWN.colourEnd(scale);

  // One sentence or two about this moment. `moved` nodes have at least 5 % of the amplitude at which colours end.
  GWN.describe = function (graph, state, panels, values) {
    const [first, second] = panels, scale = first.wave.scale(state.time), time = GWN.number(state.time, 3);
    const hue = state.colour === "amplitude";
    let moved = 0, up = 0, far = 0;
    for (let i = 0; i < graph.nodes; i++) {
      if (Math.abs(values[i]) < 0.05 * scale) continue;
      moved++;
      up += values[i] > 0;
      if (first.hops) far = Math.max(far, first.hops[i]);
    }
    const text = [];
    if (state.view === "pulse") {
      const alone = first.hops.every((hops, i) => hops < 0 || i === state.node);
      text.push(`A pulse was set free at ${graph.called(state.node)}${graph.about(state.node)}. At t = ${time} it ${alone ? "stays there, as no edge leads on" : far ? `moves ${moved.toLocaleString("en")} of ${many(graph.nodes, "node")}, up to ${many(far, "edge")} away` : "has reached no other node yet"}${hue && far ? ": orange is above zero, blue below" : ""}.`);
    } else {
      const { model, zero, at } = first.network, done = at[Math.round(first.wave.place(state.time))];
      const [what, above, below] = zero !== null ? ["", "are above it", "below it"] : ["the score of ", "speak for it", "against it"];
      text.push(`${model}: ${what}${first.signal} on its way through the network, after ${done} of ${many(at.at(-1), "step")}. ${zero !== null ? `Zero stands for ${GWN.inFull(zero)}: ` : ""}${up.toLocaleString("en")} nodes ${above}${hue ? " (orange)" : ""}, ${(moved - up).toLocaleString("en")} ${below}${hue ? " (blue)" : ""}.`);
    }
    if (second) {
      const left = kept(first.wave, state.time), right = kept(second.wave, state.time);
      if (second.smooths) text.push(`Smoothing has ${percent(right)} of the differences between neighbours left that it began with; the wave has ${left < 10 ? percent(left) : GWN.number(left, 2) + " times"} of them.`);
      else {
        const [a, b] = [first, second].map((each) => each.wave.norm[Math.round(each.wave.place(state.time))] / (each.wave.norm[0] || 1));
        text.push(`By now this wave is ${GWN.number(a, 2)} times as large as at its start, the one beside it ${GWN.number(b, 2)} times.`);
      }
    }
    return text.join(" ");
  };

  // What a wave has of the differences between neighbours that it began with.
  function kept(wave, time) {
    return Math.max(0, wave.differences[Math.round(wave.place(time))]) / (wave.differences[0] || 1);
  }

  // What the mode of L_a's eigenvalue +1 obeys, and how it grows, where that is not u″ = +u.
  const SMOOTH = { heat: ["u′ = +u", "like eᵗ"], damped: [`u″ + ${GWN.DAMPING} u′ = +u`, "exponentially"] };

  // What becomes of differences, by the factor with which a step multiplies the roughest mode.
  function heat(factor) {
    if (factor > -1e-9) return "no mode swings and differences between neighbours only die out.";
    return factor > -1 + 1e-6 ? "differences between neighbours die out, the roughest with another sign in every step."
      : "smooth differences between neighbours die out, but the roughest only changes its sign in every step.";
  }

  // Whether the chosen dynamics are bounded, and why. `low` and `high` are the ends of the spectrum of L_a; `moving` says
  // whether the wave starts with a velocity, of which a mode of eigenvalue 0 keeps its part for ever.
  GWN.verdict = function (laplacian, scheme, tau, low, high, moving) {
    const growth = GWN.growth(scheme, tau, low, high), bounded = growth <= 1 + 1e-6, factor = GWN.number(growth, 3);
    if (scheme === "heat" && bounded) return { bounded, text: `Heat, not a wave: ${heat(1 + tau * low)} Stacked, this is the over-smoothing of graph convolutions.` };
    if (scheme === "leapfrog-rescaled") return { bounded, text: `Bounded: every step is divided by the growth of its fastest mode. What is left in the end is that one smooth mode.` };
    if (bounded && scheme === "damped") return { bounded, text: "Bounded: friction takes the energy of every mode." };
    if (bounded) {
      const name = GWN.operatorName(laplacian), swings = "is pulled back to zero and swings.";
      const why = high < -1e-9 ? `Bounded: every eigenvalue of ${name} is negative, so every mode ${swings}`
        : `Bounded${moving ? " but for a drift" : ""}: no eigenvalue of ${name} is positive. The smooth mode, of eigenvalue 0, ${moving ? "keeps the speed it starts with" : "stays as it is"}; every other ${swings}`;
      return { bounded, text: why + (scheme === "leapfrog" ? " The sum of both energies stays." : "") };
    }
    if (high > 1e-9) {
      const [equation, like] = SMOOTH[scheme] || ["u″ = +u", "like cosh t"], paper = scheme === "leapfrog" ? " The paper's wave needs few steps for this reason." : "";
      return { bounded, text: `Grows: S has the eigenvalue +1. Its smooth mode obeys ${equation}, which pushes away from zero instead of back, so it grows ${like} for every tau; each step multiplies it by ${factor}.${paper}` };
    }
    const limit = scheme === "heat" ? 2 / -low : 2 / Math.sqrt(-low);
    return { bounded, text: `Grows: tau = ${GWN.number(tau)} is above ${GWN.number(limit, 4)}, up to which this scheme is stable here. The roughest mode is multiplied by ${factor} in each step; bessel and newmark, where a Laplacian has them, are stable for any tau.` };
  };

  // With the paper's sign <x, L_a x> is above zero for some x; where it never is, the step is too long.
  function whyItGrows({ laplacian, highest }) {
    if (!(highest > 1e-6)) return `of the trained ${laplacian} operator, `;
    return `the trained ${laplacian} operator is above zero for some signals, up to +${GWN.number(highest, 3)}. These obey u″ = +λu, which pushes away from zero instead of back; `;
  }

  GWN.verdictOfNetwork = function (network) {
    if (network.growth === null) {
      return { bounded: false, text: `How fast the fastest mode of the trained ${network.laplacian} operator grows is not known (gwn stability).` };
    }
    const factor = GWN.number(network.growth, 3);
    return network.growth <= 1 + 1e-6
      ? { bounded: true, text: `Bounded: no mode of the trained ${network.laplacian} operator grows from step to step (gwn stability).` }
      : { bounded: false, text: `Grows: ${whyItGrows(network)}the fastest mode is multiplied by ${factor} in each step (gwn stability).` };
  };
})(window.GWN);

// What a person does, and what follows from it.
"use strict";
(function (GWN) {
  const by = (id) => document.getElementById(id);
  const raw = JSON.parse(by("data").textContent);
  const { graph, op } = GWN.unpack(raw), network = raw.network;
  const TIME = 20, SECONDS = 10;  // of a pulse, and of a screening of it
  const FIRST = {
    view: "pulse", node: raw.centre, class: 0, laplacian: "physical", scheme: "leapfrog", tau: 0.25, compare: "nothing",
    colour: "amplitude", edges: "plain", fixed: false, time: 0,
  };
  const state = { ...FIRST, playing: false }, view = { zoom: 1, x: 0, y: 0 };
  const pictures = [0, 1].map((k) => {
    const [still, live] = by("panel-" + k).querySelectorAll("canvas");
    return new GWN.Picture(still, live, graph, view);
  });
  const charts = new GWN.Charts({
    waveform: by("waveform"), energy: by("energy"), spectrum: by("spectrum"), second: by("second"), cursor: by("cursor"),
  });
  const colourings = GWN.colourings(graph), values = [0, 1].map(() => new Float32Array(graph.nodes));
  const film = new GWN.Film(raw.name, shown, {
    begin: () => { state.time = 0; play(); }, end: pause,
    say: (text) => { by("saved").textContent = text; }, label: (text) => { by("save-film").textContent = text; },
  });
  let panels = [], colouring = null, length = TIME, hovered = -1, over = 0, walked = -1, told = 0;

  // ---- the waves -------------------------------------------------------------------------------------------------

  const interval = (laplacian) => {
    const { shift } = raw.laplacians[laplacian];
    return [shift + raw.lowest, shift + 1];
  };

  function computed(title, laplacian, scheme, tau, steps, start, velocity, shownTau) {
    const space = raw.laplacians[laplacian];
    const states = GWN.integrate(op, space, scheme, tau, steps, start, velocity, interval(laplacian));
    const verdict = GWN.verdict(laplacian, scheme, tau, ...interval(laplacian), velocity.some((speed) => speed !== 0));
    return { title, wave: new GWN.Wave(op, states, shownTau || tau, space.walk, space.shift), smooths: scheme === "heat", verdict };
  }

  const BESIDE = {
    sym: { title: "paper's sign, S", laplacian: "sym", scheme: "leapfrog" },
    physical: { title: "physical, S − I", laplacian: "physical", scheme: "leapfrog" },
    "random-walk": { title: "random walk, D⁻¹A − I", laplacian: "random-walk", scheme: "leapfrog" },
    heat: { title: "GCN's smoothing (heat)", laplacian: "physical", scheme: "heat" },
  };

  function pulses() {
    const start = new Float64Array(graph.nodes), rest = new Float64Array(graph.nodes), { laplacian, scheme, tau } = state;
    start[state.node] = 1;
    const steps = (tau) => Math.max(1, Math.ceil(TIME / tau - 1e-9)), hops = GWN.hops(op, state.node);
    const title = `${GWN.operatorName(laplacian)}, ${scheme}, tau ${GWN.number(tau)}`;
    const found = [{ ...computed(title, laplacian, scheme, tau, steps(tau), start, rest), hops }];
    const beside = BESIDE[state.compare];
    if (beside) {
      const step = beside.scheme === "heat" ? Math.min(tau, 1) : tau;
      found.push(computed(`${beside.title}, tau ${GWN.number(step)}`, beside.laplacian, beside.scheme, step, steps(step), start, rest));
    }
    return found;
  }

  function networkWaves() {
    const signal = network.signals[state.class], full = 32767, { tau, at } = network, steps = at.at(-1);
    const packed = GWN.array(signal.states, Int16Array);
    const states = signal.scales.map((scale, n) => Float64Array.from(packed.subarray(n * graph.nodes, (n + 1) * graph.nodes), (v) => (v * scale) / full));
    const velocity = Float64Array.from(GWN.array(signal.velocity, Int16Array), (v) => (v * signal.velocityScale) / full);
    const own = new GWN.Wave(op, states, tau, false, -1, at);
    const found = [{ title: `${network.model}, ${network.laplacian}, tau ${GWN.number(tau)}`, wave: own, network, signal: signal.name, verdict: GWN.verdictOfNetwork(network) }];
    if (state.compare === "heat") found.push({ ...computed("GCN's smoothing, X(n+1) = S X(n)", "physical", "heat", 1, steps, states[0], velocity, tau), smooths: true });
    else if (BESIDE[state.compare]) {
      const { title, laplacian } = BESIDE[state.compare], scheme = raw.laplacians[laplacian].schemes.includes("bessel") ? "bessel" : "leapfrog";
      found.push(computed(title + " from the same start", laplacian, scheme, tau, steps, states[0], velocity));
    }
    return found;
  }

  function recompute() {
    panels = state.view === "pulse" ? pulses() : networkWaves();
    length = Math.max(...panels.map((panel) => panel.wave.end));
    state.time = Math.min(state.time, length);
    const verdicts = panels.map((panel) => panel.verdict).filter(Boolean);
    by("verdicts").replaceChildren(...verdicts.map(({ bounded, text }, k) => {
      const line = document.createElement("p");
      line.className = "verdict " + (bounded ? "bounded" : "unbounded");
      line.textContent = (verdicts.length > 1 ? panels[k].title.split(",")[0] + ": " : "") + text;
      return line;
    }));
    const two = panels.length > 1;
    by("panels").classList.toggle("two", two);
    if (by("panel-1").hidden === two) {
      by("panel-1").hidden = by("second-figure").hidden = !two;
      resize();
    }
    rest();
    drawCharts();
    show(state.time);
    keep();
  }

  // ---- drawing ---------------------------------------------------------------------------------------------------

  const used = () => pictures.slice(0, panels.length);

  function resize() {
    used().forEach((picture) => picture.resize());
  }

  let restedStep = -1;
  function attentionNow() {
    if (state.view !== "network" || state.edges !== "attention") return null;
    const { steps, values } = network.attention, n = Math.min(steps - 1, Math.floor(state.time / network.attention.tau + 1e-9));
    restedStep = n;
    const all = GWN.array(values, Int8Array), size = all.length / steps;
    return Float32Array.from(all.subarray(n * size, (n + 1) * size), (value) => value / 127);
  }

  function rest() {
    colouring = colourings[state.colour](GWN.theme());
    const signs = attentionNow();
    used().forEach((picture, k) => picture.rest(colouring, k ? null : signs));
    legend();
  }

  function drawCharts() {
    charts.draw(panels.map((panel) => panel.wave), state.node, length);
    by("waveform-title").textContent = `Amplitude of ${graph.called(state.node)}${panels[1] ? ": the first solid, the second dashed" : ""}`;
    const lines = panels[0].wave.energy.length > 1;  // of one step there are dots alone
    by("energy-title").textContent = panels[1] ? (lines ? "Energy: of the first solid, of the second dashed" : "Energy: of the second orange")
      : (lines ? "Energy: kinetic dashed, potential dotted, sum solid" : "Energy: kinetic orange, potential blue, and their sum");
    charts.cursor(state.time);
  }

  function paint() {
    if (restedStep >= 0 && state.edges === "attention" && state.view === "network") {
      const n = Math.min(network.attention.steps - 1, Math.floor(state.time / network.attention.tau + 1e-9));
      if (n !== restedStep) rest();
    }
    const marked = [[state.node, true], ...(walked >= 0 ? [[walked, true]] : []), ...(hovered >= 0 ? [[hovered, false]] : [])];
    panels.forEach((panel, k) => {
      panel.wave.at(state.time, values[k]);
      panel.scale = state.fixed ? panel.wave.widest() : panel.wave.scale(state.time);
      pictures[k].move(values[k], panel.scale, colouring, marked);
    });
    charts.cursor(state.time);
    explorer.frames++;
    film.frame();
  }

  function say() {
    told = performance.now();
    by("time").value = Math.round((1000 * state.time) / length);
    const text = `t = ${state.time.toFixed(2)}`;
    by("now").value = text;
    by("time").setAttribute("aria-valuetext", text);
    panels.forEach((panel, k) => {
      by("title-" + k).firstElementChild.textContent = panel.title;
      by("title-" + k).lastElementChild.textContent = GWN.colourEnd(panel.scale);
    });
    by("words").textContent = GWN.describe(graph, state, panels, values[0]);
    if (hovered >= 0) tip();
  }

  function show(time) {
    state.time = time;
    paint();
    say();
  }

  function legend() {
    const bar = document.createElement("i"), theme = GWN.theme(), { ends } = colouring;
    bar.className = "bar";
    const stops = [-1, -0.5, 0, 0.5, 1].map((value) => GWN.amplitudeColour(theme, value));
    bar.style.background = `linear-gradient(90deg, ${stops.join(",")})`;
    const entries = meaning().map(([colour, text]) => {
      const item = document.createElement("span"), dot = document.createElement("i");
      if (!colour) { item.textContent = text; return item; }
      dot.style.background = colour;
      item.className = "chip";
      item.append(dot, text);
      return item;
    });
    if (state.colour === "amplitude") entries.splice(0, 2, "below zero", bar, "above");
    else if (ends) entries.splice(0, 2, GWN.inFull(ends[0]), bar, GWN.inFull(ends[1]));
    by("legend").replaceChildren(...entries);
  }

  // What colours mean, as [colour, words]; words alone have none.
  function meaning() {
    const theme = GWN.theme(), found = [];
    if (state.colour === "amplitude") found.push([theme.below, "below zero"], [theme.above, "above"]);
    else if (colouring.ends) {
      const [low, high] = colouring.ends.map(GWN.inFull);
      found.push([theme["below-far"], low], [theme["above-far"], high]);
      if (state.colour === "mistake") found.push(["", "predicted less known"]);
      if (state.colour !== "prediction" && graph.targets.some(Number.isNaN)) found.push([theme.rest, "number unknown"]);
    } else if (state.colour === "mistake") {
      found.push([theme.right, "right"], [theme.wrong, "wrong"]);
      if (graph.labels.includes(-1)) found.push([theme.rest, "class unknown"]);
    } else {
      const coloured = GWN.coloured(theme, graph), others = graph.classes.length - coloured.length;
      coloured.forEach((k) => found.push([GWN.classColour(theme, graph, k), graph.classes[k]]));
      if (others) found.push([theme.rest, `and ${others} other class${others === 1 ? "" : "es"}`]);
    }
    if (state.colour !== "amplitude") found.push(["", "large: far from zero"]);
    if (state.edges === "attention" && state.view === "network") found.push([theme.above, "attention above zero"], [theme.below, "below"]);
    return found;
  }

  // ---- time ------------------------------------------------------------------------------------------------------

  let before = 0;
  const seconds = () => (state.view === "pulse" ? SECONDS : Math.min(12, Math.max(4, 1.2 * length)));
  function frame(now) {
    if (!state.playing) return;
    // the time of a frame is that of its beginning, which may be before play() was called
    state.time += Math.min(0.25, Math.max(0, now - before) / 1000) * (length / seconds());
    before = now;
    if (state.time > length) {
      if (film.running) { state.time = length; paint(); pause(); return; }
      state.time = 0;
    }
    paint();
    if (now - told > 150) say();
    requestAnimationFrame(frame);
  }

  function play() {
    if (state.playing) return;
    if (state.time >= length) state.time = 0;
    state.playing = true;
    by("play").textContent = "Pause";
    by("play").setAttribute("aria-pressed", "true");
    before = performance.now();
    requestAnimationFrame(frame);
    keep();
  }

  function pause() {
    if (!state.playing) return;
    state.playing = false;
    by("play").textContent = "Play";
    by("play").setAttribute("aria-pressed", "false");
    if (film.running) film.finish();
    say();
    keep();
  }

  // ---- what is shown, in the address -----------------------------------------------------------------------------

  let keeping = 0;
  function keep() {
    clearTimeout(keeping);
    keeping = setTimeout(() => history.replaceState(null, "", "#" + address()), 120);
  }

  function address() {
    const said = new URLSearchParams({ data: raw.name, view: state.view });
    said.set("node", graph.key(state.node));
    if (!state.playing) said.set("t", state.time.toFixed(3));
    for (const key of ["class", "laplacian", "scheme", "tau", "compare", "colour", "edges", "fixed"]) {
      if (state[key] !== FIRST[key]) said.set(key, state[key]);
    }
    return said.toString();
  }

  // What the address says, as far as this page has it, and for all else what a page begins with; a moment in it is a
  // moment to look at, so nothing plays.
  function recall() {
    const said = new URLSearchParams(location.hash.slice(1));
    by("told").textContent = "";
    if (said.has("data") && said.get("data") !== raw.name) {
      by("told").textContent = `the address is of ${said.get("data")}, and this page has ${raw.name}`;
      return false;
    }
    Object.assign(state, { ...FIRST, playing: state.playing });
    const choose = (key, known) => { if (known.includes(said.get(key))) state[key] = said.get(key); };
    choose("view", network ? ["pulse", "network"] : ["pulse"]);
    choose("laplacian", Object.keys(raw.laplacians));
    choose("scheme", raw.laplacians[state.laplacian].schemes);
    choose("compare", ["nothing", ...Object.keys(BESIDE)]);
    choose("colour", Object.keys(colourings));
    choose("edges", network && network.attention ? ["plain", "attention"] : ["plain"]);
    const node = said.has("node") ? graph.find(said.get("node")) : -1, tau = Number(said.get("tau")), index = Number(said.get("class"));
    if (node >= 0) state.node = node;
    else if (said.has("node")) by("told").textContent = `node ${said.get("node")} of the address is not drawn`;
    state.fixed = said.get("fixed") === "true";
    if (tau >= 0.05 && tau <= 2.5) state.tau = tau;
    if (network && Number.isInteger(index) && index >= 0 && index < network.signals.length) state.class = index;
    const time = Number(said.get("t"));
    if (!said.has("t") || !(time >= 0)) return false;
    state.time = time;
    return true;
  }

  function shown() {
    const line = (time) => `${raw.name} · ${graph.name(state.node)} · t = ${time.toFixed(2)}`;
    const titles = panels.map((panel) => GWN.panelTitle(panel, panel.scale));
    return { pictures: used(), titles, line: line(state.time), longest: line(length), meaning: meaning() };
  }

  // ---- choices ---------------------------------------------------------------------------------------------------

  const options = (select, entries, chosen) => select.replaceChildren(...entries.map(([value, text]) => new Option(text, value, false, value === String(chosen))));

  function offer() {
    const pulse = state.view === "pulse";
    by("view-pulse").setAttribute("aria-pressed", String(pulse));
    by("view-network").setAttribute("aria-pressed", String(!pulse));
    by("views").hidden = !network;
    by("node-label").textContent = pulse ? "Starts at node" : "Chart of node";
    document.querySelectorAll(".pulse").forEach((field) => { field.hidden = !pulse; });
    by("field-class").hidden = pulse;
    by("class-label").textContent = network && network.zero !== null ? "Shown" : "Score of";
    by("field-edges").hidden = pulse || !network.attention;
    const schemes = raw.laplacians[state.laplacian].schemes;
    if (!schemes.includes(state.scheme)) state.scheme = "leapfrog";
    options(by("laplacian"), Object.keys(raw.laplacians).map((name) => [name, `${name}: ${GWN.operatorName(name)}`]), state.laplacian);
    options(by("scheme"), schemes.map((name) => [name, name]), state.scheme);
    options(by("colour"), Object.keys(colourings).map((name) => [name, name]), state.colour);
    options(by("compare"), [["nothing", "nothing"], ...Object.entries(BESIDE).map(([name, { title }]) => [name, title])], state.compare);
    if (network) options(by("class"), network.signals.map((signal, k) => [String(k), signal.name]), state.class);
    by("edges").value = state.edges;
    by("fixed").checked = state.fixed;
    by("tau").value = state.tau;
    by("tau-now").value = GWN.number(state.tau);
    by("node").value = graph.name(state.node);
  }

  // A pulse is watched from its start; what is only compared or coloured otherwise keeps its time.
  function choose(node) {
    state.node = node;
    walked = -1;
    if (pictures[0].follow(node)) soon();
    by("node").value = graph.name(node);
    by("told").textContent = "";
    if (state.view !== "pulse") { drawCharts(); show(state.time); keep(); return; }
    state.time = 0;
    recompute();
    if (!calm.matches) play();
  }

  function look(where) {
    state.view = where;
    state.time = 0;
    offer();
    recompute();
    if (!calm.matches) play();
  }

  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  for (const key of ["laplacian", "scheme", "compare", "class"]) {
    by(key).addEventListener("change", () => { state[key] = key === "class" ? Number(by(key).value) : by(key).value; offer(); recompute(); });
  }
  by("tau").addEventListener("input", () => { state.tau = Number(by("tau").value); by("tau-now").value = GWN.number(state.tau); recompute(); });
  for (const key of ["colour", "edges"]) {
    by(key).addEventListener("change", () => { state[key] = by(key).value; rest(); show(state.time); keep(); });
  }
  by("fixed").addEventListener("change", () => { state.fixed = by("fixed").checked; show(state.time); keep(); });
  by("view-pulse").addEventListener("click", () => look("pulse"));
  by("view-network").addEventListener("click", () => look("network"));
  by("play").addEventListener("click", () => (state.playing ? pause() : play()));
  by("time").addEventListener("input", () => {
    const time = (Number(by("time").value) / 1000) * length;  // before the slider is set to where the wave is
    pause();
    show(time);
    keep();
  });
  by("node").addEventListener("change", () => {
    const node = graph.find(by("node").value);
    if (node >= 0) choose(node);
    else by("told").textContent = "no node of that name is drawn";
  });
  by("save-picture").addEventListener("click", () => film.savePicture());
  by("save-film").addEventListener("click", () => film.record());
  by("copy-link").addEventListener("click", async () => {
    const link = location.href.split("#")[0] + "#" + address();
    try {
      await navigator.clipboard.writeText(link);
      by("saved").textContent = "copied";
    } catch {
      by("saved").textContent = "the address of this page is the link";
    }
  });

  // ---- the picture under a pointer and under keys ----------------------------------------------------------------

  function tip() {
    const box = by("tip"), [x, y] = pictures[0].positionOf(hovered);
    const amplitudes = panels.map((_, k) => GWN.number(values[k][hovered])).join(" | ");
    const lines = [graph.name(hovered), ...graph.facts(hovered), `amplitude ${amplitudes}`];
    box.replaceChildren(...lines.map((line, k) => { const row = document.createElement(k ? "span" : "b"); row.textContent = line; return row; }));
    box.hidden = false;
    const panel = pictures[over].canvases[1].getBoundingClientRect(), holder = by("panels").getBoundingClientRect();
    box.style.left = Math.max(0, Math.min(panel.left - holder.left + x + 14, holder.width - box.offsetWidth)) + "px";
    const above = y + 14 + box.offsetHeight > panel.height && y - 14 - box.offsetHeight > 0;  // controls are not covered
    box.style.top = panel.top - holder.top + (above ? y - 14 - box.offsetHeight : y + 14) + "px";
  }

  function hover(node, panel) {
    if (node === hovered && panel === over) return;
    hovered = node;
    over = panel;
    if (node >= 0) tip();
    else by("tip").hidden = true;
    if (!state.playing) paint();
  }

  function redraw() {
    by("panels").classList.toggle("near", view.zoom > 1);
    rest();
    paint();
  }
  let waiting = false;
  const soon = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; redraw(); }); } };

  document.querySelectorAll(".live").forEach((canvas, k) => GWN.followPointer(canvas, pictures[k], view, { choose, hover: (node) => hover(node, k), redraw: soon }));
  const zoom = (factor) => { const [width, height] = pictures[0].size(); pictures[0].zoomAt(factor, width / 2, height / 2); soon(); };
  const onward = () => (walked < 0 ? state.node : walked);
  function closer(factor) {  // by a key: towards the node that keys are at
    pictures[0].zoomAt(factor, ...pictures[0].positionOf(onward()));
    soon();
  }
  const whole = () => { Object.assign(view, { zoom: 1, x: 0, y: 0 }); soon(); };
  by("closer").addEventListener("click", () => zoom(1.5));
  by("farther").addEventListener("click", () => zoom(1 / 1.5));
  by("whole").addEventListener("click", whole);
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  by("picture").addEventListener("keydown", (event) => {
    if (ARROWS[event.key]) {
      const next = pictures[0].towards(onward(), ...ARROWS[event.key]);
      if (next >= 0) {
        walked = next;
        by("told").textContent = graph.name(next) + graph.about(next);
        if (pictures[0].follow(next)) rest();
        paint();
      }
    } else if (event.key === "Enter" && walked >= 0) choose(walked);
    else if (event.key === "+" || event.key === "=") closer(1.5);
    else if (event.key === "-") closer(1 / 1.5);
    else if (event.key === "0") whole();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const { tagName, type } = event.target, typing = /^(INPUT|SELECT|BUTTON|SUMMARY|A)$/.test(tagName) && type !== "range";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && !typing) { if (state.playing) pause(); else play(); }
    else if (event.key === "/" && event.target.id !== "node") { by("node").focus(); by("node").select(); }
    else if ((event.key === "," || event.key === ".") && !typing) {
      pause();
      const { wave } = panels[0];
      show(wave.time(Math.round(wave.place(state.time)) + (event.key === "." ? 1 : -1)));
      keep();
    } else return;
    event.preventDefault();
  });
  function chartTime(event) {
    if (event.target.tagName !== "CANVAS" || !(event.buttons & 1)) return;
    pause();
    show(charts.timeAt(event.clientX - event.target.getBoundingClientRect().left));
    keep();
  }
  for (const kind of ["pointerdown", "pointermove"]) by("charts").addEventListener(kind, chartTime);

  // ---- the beginning ---------------------------------------------------------------------------------------------

  const everything = () => { resize(); rest(); drawCharts(); show(state.time); };
  new ResizeObserver(() => { if (panels.length) everything(); }).observe(by("panels"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", everything);
  window.addEventListener("hashchange", () => {
    if (by(location.hash.slice(1))) { keep(); return; }  // a place on this page
    pause();
    const still = recall();
    offer();
    recompute();
    if (!still && !calm.matches) play();
  });
  by("names").replaceChildren(...Array.from({ length: graph.nodes }, (_, i) => new Option(graph.name(i))));

  const explorer = { state, graph, op, frames: 0, get panels() { return panels; }, get length() { return length; }, pictures, show, pause, play };
  GWN.explorer = explorer;
  const still = recall();
  offer();
  panels = [null];
  resize();
  recompute();
  if (!still && !calm.matches) play();
  document.body.dataset.ready = "yes";
})(window.GWN);

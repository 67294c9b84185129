// Tables that sort by a click or a key on a heading: numbers from the highest, words from A, then the other way round,
// then as they were; what has no value comes last. Filters hide the rows and columns of every table that name something else.
"use strict";
(function () {
  const text = (cell) => cell.textContent.trim();
  const number = (cell) => {
    const given = cell.dataset.value;
    if (given) return Number(given);
    const read = given === undefined || text(cell) === "" ? NaN : Number(text(cell).replace(/,/g, ""));
    return Number.isNaN(read) ? null : read;
  };
  const absent = (cell) => cell.classList.contains("missing") || text(cell) === "";

  function sort(table, column, direction, numeric) {
    const rows = [...table.tBodies[0].rows];
    const key = new Map(rows.map((row) => {
      const cell = row.cells[column];
      return [row, numeric ? number(cell) : absent(cell) ? null : text(cell)];
    }));
    rows.sort((a, b) => {
      const x = key.get(a), y = key.get(b);
      if (x === null || y === null) return (x === null) - (y === null);
      return direction * (numeric ? x - y : x.localeCompare(y, "en", { numeric: true }));
    });
    table.tBodies[0].append(...rows);
  }

  const tables = [...document.querySelectorAll("table.sortable")];
  tables.forEach((table) => {
    const heads = [...table.tHead.rows[0].cells], given = [...table.tBodies[0].rows];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const numeric = [...table.tBodies[0].rows].some((row) => number(row.cells[column]) !== null);
        const [first, other] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
        const now = { [first]: other, [other]: "none", none: first }[head.getAttribute("aria-sort")];
        heads.forEach((each) => each.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", now);
        if (now === "none") table.tBodies[0].append(...given);
        else sort(table, column, now === "ascending" ? 1 : -1, numeric);
      });
    });
  });

  const inputs = [...document.querySelectorAll("[data-filter]")];
  // Commas separate what is wanted, but not inside of a name that the page suggests.
  function wanted(input) {
    const said = input.value.trim().toLowerCase(), known = [...(input.list ? input.list.options : [])];
    if (known.some((option) => option.value.toLowerCase() === said)) return [said];
    return said.split(",").map((part) => part.trim()).filter(Boolean);
  }
  const fits = (name, terms) => terms.length === 0 || terms.some((term) => name.toLowerCase().includes(term));

  function filter() {
    const terms = new Map(inputs.map((input) => [input.dataset.filter, wanted(input)]));
    let shown = 0, all = 0;
    tables.forEach((table) => {
      const heads = [...table.tHead.rows[0].cells];
      const across = heads.map((head) => !head.dataset.across || fits(text(head), terms.get(head.dataset.across) || []));
      const names = heads.flatMap((head, column) => terms.has(head.dataset.of) ? [[column, terms.get(head.dataset.of)]] : []);
      heads.forEach((head, column) => { head.hidden = !across[column]; });
      const rows = [...table.tBodies[0].rows];
      let kept = 0;
      rows.forEach((row) => {
        [...row.cells].forEach((cell, column) => { cell.hidden = !across[column]; });
        row.hidden = !names.every(([column, of]) => fits(text(row.cells[column]), of));
        kept += !row.hidden;
      });
      const columns = heads.some((head, column) => head.dataset.across && across[column]) || !heads.some((head) => head.dataset.across);
      const box = table.closest(".scroll"), nothing = box.nextElementSibling, notes = nothing.nextElementSibling;
      box.hidden = kept === 0 || !columns;
      nothing.hidden = !box.hidden;
      const letters = new Set([...table.querySelectorAll("sup")].filter((each) => !each.closest("[hidden]")).map(text));
      if (notes && notes.matches(".notes")) [...notes.children].forEach((note) => {
        note.hidden = box.hidden || !letters.has(text(note.querySelector("sup")));
      });
      shown += box.hidden ? 0 : kept;
      all += rows.length;
    });
    const found = document.querySelector("[data-found]");
    found.textContent = [...terms.values()].some((of) => of.length) ? `${shown} of ${all} rows` : "";
  }
  inputs.forEach((input) => input.addEventListener("input", filter));

  // On paper nothing is folded but what only lists settings.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.exhibit:not([open])")].filter((each) => !each.closest(".behind"));
    folded.forEach((each) => { each.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((each) => { each.open = false; }));
})();

// Tables that sort by a click or a key on a heading: numbers from the highest, words from A; cells without a value last.
"use strict";
(function () {
  const text = (cell) => cell.textContent.trim();
  const number = (cell) => {
    const given = cell.dataset.value;
    if (given) return Number(given);
    const read = given === undefined || text(cell) === "" ? NaN : Number(text(cell).replace(/,/g, ""));
    return Number.isNaN(read) ? null : read;
  };

  function sort(table, column, direction) {
    const rows = [...table.tBodies[0].rows];
    const cells = rows.map((row) => row.cells[column]);
    const numeric = cells.some((cell) => number(cell) !== null);
    const key = new Map(rows.map((row, k) => [row, numeric ? number(cells[k]) : text(cells[k]) || null]));
    rows.sort((a, b) => {
      const x = key.get(a), y = key.get(b);
      if (x === null || y === null) return (x === null) - (y === null);
      return direction * (numeric ? x - y : x.localeCompare(y, "en", { numeric: true }));
    });
    table.tBodies[0].append(...rows);
    return numeric;
  }

  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const numeric = [...table.tBodies[0].rows].some((row) => number(row.cells[column]) !== null);
        const first = numeric ? "descending" : "ascending";
        const other = numeric ? "ascending" : "descending";
        const now = before === first ? other : first;
        heads.forEach((each) => each.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", now);
        sort(table, column, now === "ascending" ? 1 : -1);
      });
    });
  });
  document.body.dataset.ready = "report";
})();

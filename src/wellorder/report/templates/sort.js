"use strict";
// Sorts the leaderboard by the column whose heading is pressed; without scripts the table stays as it is.
function sortTable(table, column, descending) {
  const kind = table.tHead.rows[0].cells[column].dataset.sort;
  const key = (row) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.dataset.value || cell.textContent.trim();
    return cell.dataset.value ? Number(cell.dataset.value) : NaN;
  };
  const compare = (a, b) => {
    const x = key(a), y = key(b);
    if (kind === "text") return descending ? y.localeCompare(x) : x.localeCompare(y);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // no number: always last
    return descending ? y - x : x - y;
  };
  const body = table.tBodies[0];
  Array.from(body.rows).sort(compare).forEach((row) => body.appendChild(row));
}
const standings = document.getElementById("standings");
if (standings) {
  Array.from(standings.tHead.rows[0].cells).forEach((head, column) => {
    if (!head.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      standings.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortTable(standings, column, descending);
    });
  });
}

"use strict";
// The owner's page: what changes is fetched while the page is looked at, and replaced when it is another.

(() => {
  const now = document.getElementById("now"), said = document.getElementById("said");
  let part = "", n_votes = -1;

  async function look() {
    if (document.visibilityState === "visible" && !now.contains(document.activeElement)) {
      try {
        const response = await fetch("now");
        if (response.ok) {
          const found = await response.json();
          if (found.part !== part) {
            now.innerHTML = found.part; // escaped by the collector
            part = found.part;
          }
          if (n_votes >= 0 && Math.floor(found.n_votes / 10) > Math.floor(n_votes / 10)) said.textContent = found.said;
          n_votes = found.n_votes;
        }
      } catch { /* the collector was stopped; when it goes on, so does this */ }
    }
    setTimeout(look, 2000);
  }
  setTimeout(look, 2000);
})();

// Finds items among all, also those that the page has no room for, and says how likely one of two is really above.
function interpolate(x, xs, ys) {
  if (x <= xs[0]) return ys[0];
  for (let k = 1; k < xs.length; k++) {
    if (x <= xs[k]) return ys[k - 1] + ((ys[k] - ys[k - 1]) * (x - xs[k - 1])) / (xs[k] - xs[k - 1]);
  }
  return ys[ys.length - 1];
}
// Of a normal law, how much lies below x: Abramowitz and Stegun's 7.1.26.
function below(x) {
  const t = 1 / (1 + (0.3275911 * Math.abs(x)) / Math.SQRT2);
  const rest = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const tail = 0.5 * rest * Math.exp((-x * x) / 2);
  return x < 0 ? tail : 1 - tail;
}
function make(tag, parent, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  if (parent) parent.append(made);
  return made;
}
function field(parent, label, hint) {
  const box = make("label", parent, undefined, "field");
  make("span", box, label);
  const input = make("input", box);
  input.type = "search";
  input.placeholder = hint;
  input.autocomplete = "off";
  return input;
}
function percent(share) {
  return share > 0.99 ? "more than 99 %" : share < 0.01 ? "less than 1 %" : Math.round(100 * share) + " %";
}
document.querySelectorAll(".finder").forEach((finder) => {
  const data = JSON.parse(document.getElementById(finder.dataset.for).textContent);
  const at = (name) => data.columns.indexOf(name);
  const [NAME, SCORE, RANK, DOUBT] = ["item", "score", "rank", "deviation"].map(at);
  const LIST = Math.max(at("list"), at("island"));
  const lower = data.rows.map((row) => (at("list") < 0 ? row[NAME] : row[NAME] + "\n" + row[LIST]).toLowerCase());
  const strangers = new Set(data.strangers.map((k) => data.rows[k]));
  const MOST = 50;

  const search = field(finder, "Find an item", at("list") < 0 ? "part of its name" : "part of its name, or of its list's");
  const found = make("div", finder, undefined, "found");
  found.setAttribute("aria-live", "polite");
  search.addEventListener("input", () => {
    found.replaceChildren();
    const wanted = search.value.trim().toLowerCase();
    if (!wanted) return;
    const rows = data.rows.filter((_, k) => lower[k].includes(wanted));
    const some = rows.length > MOST ? ", the first " + MOST + " are shown" : "";
    make("p", found, rows.length.toLocaleString("en") + " of " + data.rows.length.toLocaleString("en") + some, "of");
    if (!rows.length) return;
    const shown = data.columns.filter((name, k) => rows.slice(0, MOST).some((row) => row[k] !== null && row[k] !== ""));
    const table = make("table", make("div", found, undefined, "scroll"), undefined, "ranked");
    const head = make("tr", make("thead", table));
    const numbers = ["score", "rank", "band", "deviation", "ranks", "votes", "island"];
    const number = (name) => (numbers.includes(name) ? "number" : "");
    shown.forEach((name) => make("th", head, name, number(name)));
    const body = make("tbody", table);
    rows.slice(0, MOST).forEach((row) => {
      const line = make("tr", body);
      shown.forEach((name) => {
        const cell = make("td", line, undefined, number(name));
        const value = row[at(name)];
        make("bdi", cell, value === null ? "–" : (name === "score" || name === "deviation") && Math.abs(value) < 1e9 ? value.toFixed(4) : String(value));
      });
    });
  });

  if (!(data.chances || data.above) || data.rows.length < 2) return;
  const two = make("div", finder, undefined, "two");
  const hint = LIST < 0 ? "name, or its rank" : "its name";
  const inputs = [field(two, "Is this one", hint), field(two, "really above this one?", hint)];
  const answer = make("p", two, undefined, "answer");
  answer.setAttribute("aria-live", "polite");
  const find = (text, beside) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return null;
    const called = data.rows.filter((row) => row[NAME].toLowerCase() === wanted);
    if (called.length) return (beside && called.find((row) => row[LIST] === beside[LIST])) || called[0];
    if (LIST < 0 && /^#?\d+$/.test(wanted)) return data.rows.find((row) => row[RANK] === Number(wanted.replace("#", "")));
    return undefined;
  };
  const judge = () => {
    const rows = [find(inputs[0].value)];
    rows.push(find(inputs[1].value, rows[0]));
    answer.textContent = "";
    const unknown = rows.indexOf(undefined);
    if (unknown >= 0) answer.textContent = "There is no item called " + inputs[unknown].value.trim() + ".";
    if (!rows[0] || !rows[1]) return;
    const d = rows[0][SCORE] - rows[1][SCORE];
    const stranger = rows.find((row) => strangers.has(row));
    if (stranger) {
      answer.textContent = "Nothing is known of " + stranger[NAME] + ": it was never compared.";
    } else if (LIST >= 0 && rows[0][LIST] !== rows[1][LIST]) {
      answer.textContent = data.apart || "The two stand in different lists, which the model does not compare.";
    } else if (rows[0] === rows[1]) {
      answer.textContent = "That is the same item twice.";
    } else if (data.above) {
      const share = data.above[data.rows.indexOf(rows[0])][data.rows.indexOf(rows[1])];
      answer.textContent = share === null ? data.apart
        : rows[0][NAME] + " is really above " + rows[1][NAME] + " with a probability of " + percent(share) + ".";
    } else if (d === 0) {
      answer.textContent = "The two have the same score.";
    } else {
      const { distance, above, tie, doubted } = data.chances;
      const spread = () => Math.hypot(rows[0][DOUBT], rows[1][DOUBT]);
      const up = doubted ? below(Math.abs(d) / spread()) : interpolate(Math.abs(d), distance, above);
      const level = tie ? interpolate(Math.abs(d), distance, tie) : 0;
      const share = d > 0 ? up : 1 - up - level;
      answer.textContent = rows[0][NAME] + " is really above " + rows[1][NAME] + " with a probability of " + percent(share)
        + (tie ? "; no difference " + percent(level) : "") + ".";
    }
  };
  inputs.forEach((input) => input.addEventListener("input", judge));
});

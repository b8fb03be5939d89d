"use strict";
// The judge's page. An answer is sent with the number of its pair: sent twice, it counts once, so that whenever nobody
// knows whether it has arrived it is simply sent again.

(() => {
  const by = (id) => document.getElementById(id);
  const said = by("said"), note = by("note"), noting = by("noting"), question = by("question");
  const sides = { left: by("left"), right: by("right") };
  const words = { left: "A is better", right: "B is better", tie: "equal", skip: "skipped" };
  const buttons = [...document.querySelectorAll("[data-answer], #undo")];
  let offer = null, busy = true, shown = 0;

  const say = (text, isProblem = false) => {
    said.textContent = text;
    said.classList.toggle("problem", isProblem);
  };

  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  // Without an answer from the collector: again, soon and then more slowly, for as long as the page is open.
  async function send(path, content) {
    for (let pause = 500; ; pause = Math.min(2 * pause, 8000)) {
      let response = null;
      try {
        response = await fetch(path, content === undefined ? {} : {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content),
        });
      } catch { /* no connection */ }
      if (response !== null && response.status < 500) {
        const found = await response.json().catch(() => ({ error: "the collector said something odd; reload the page" }));
        if (!response.ok) throw new Error(found.error);
        return found;
      }
      say("Not saved yet: the collector does not answer. Trying again …", true);
      await wait(pause);
    }
  }

  async function go(path, content, told) {
    if (busy) return;
    busy = true;
    document.body.classList.add("busy");
    try {
      show(await send(path, content), told);
    } catch (error) {
      say(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`, true);
    } finally {
      busy = false;
      document.body.classList.remove("busy");
    }
  }

  function show(turn, told) {
    const pair = turn.pair, isNew = pair !== null && pair.offer !== offer;
    offer = pair === null ? null : pair.offer;
    if (isNew) {
      for (const side of ["left", "right"]) {
        // what comes is escaped or sanitised by the collector, and the page's policy lets no script in it run
        sides[side].querySelector(".content").innerHTML = pair[side];
        sides[side].scrollTop = 0;
      }
      note.value = pair.note;
      openNote(pair.note !== "", false);
      shown = performance.now();
      scrollTo(0, 0);
    }
    for (const id of ["pair", "answers", "skip", "annotate"]) by(id).hidden = pair === null;
    if (pair === null) openNote(false, false);
    by("finished").hidden = pair !== null;
    by("undo").disabled = !turn.undo;
    by("mine").textContent = turn.mine === 0 ? "" : `· ${turn.mine} by you`;
    by("far").textContent = turn.forecast.text;
    by("bar").hidden = turn.forecast.share === null;
    if (turn.forecast.share !== null) by("bar").value = turn.forecast.share;
    say(told);
    // keys work from here, a screen reader goes on from here, and no button that was pressed stays in focus
    if (told !== "") question.focus({ preventScroll: true });
  }

  function answer(outcome) {
    if (offer === null) return;
    const seconds = Math.round((performance.now() - shown) / 100) / 10;
    const told = outcome === "skip" ? "Skipped." : `Saved: ${words[outcome]}.`;
    go("answer", { offer, outcome, note: note.value, seconds }, told);
  }

  const undo = () => {
    if (!by("undo").disabled) go("undo", { offer }, "Taken back: answer this one again.");
  };

  function openNote(open, focus) {
    noting.hidden = !open;
    by("annotate").setAttribute("aria-expanded", String(open));
    if (open && focus) note.focus();
  }

  for (const button of document.querySelectorAll("[data-answer]")) {
    button.addEventListener("click", () => answer(button.dataset.answer));
  }
  by("undo").addEventListener("click", undo);
  by("annotate").addEventListener("click", () => openNote(noting.hidden, true));

  const keys = by("keys");
  try { keys.checked = localStorage.getItem("keys") !== "off"; } catch { /* no storage: keys are on */ }
  keys.addEventListener("change", () => {
    try { localStorage.setItem("keys", keys.checked ? "on" : "off"); } catch { /* until the page is closed */ }
    document.body.classList.toggle("keyless", !keys.checked);
  });
  document.body.classList.toggle("keyless", !keys.checked);

  document.addEventListener("keydown", (event) => {
    if (event.target === note) {
      if (event.key === "Escape") { question.focus({ preventScroll: true }); event.preventDefault(); }
      return;
    }
    if (!keys.checked || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("audio, input, textarea, select")) return;
    if (event.key === " " && target.closest("button, a, summary")) return; // it presses what is in focus
    const done = {
      ArrowLeft: () => answer("left"), ArrowRight: () => answer("right"), " ": () => answer("tie"),
      u: undo, s: () => answer("skip"), n: () => offer !== null && openNote(true, true),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (done === undefined) return;
    event.preventDefault();
    done();
  });

  // what was answered in another tab, or on a phone that slept
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") go("turn", undefined, "");
  });

  busy = false;
  go("turn", undefined, "");
})();

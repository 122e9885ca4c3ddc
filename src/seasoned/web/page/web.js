"use strict";
// The pages work without this; it keeps them fresh, counts the time, and listens to keys.
(() => {
  const data = document.body.dataset;
  const find = (selector, within = document) => within.querySelector(selector);

  function span(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const two = (number) => String(number).padStart(2, "0");
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
    if (whole < 172800) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
    return `${Math.floor(whole / 86400)} d`;
  }

  // The server's clock counts: a phone may be minutes off.
  const loaded = performance.now();
  const now = () => Number(data.now) + (performance.now() - loaded) / 1000;

  function ago(past) {
    const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"]].find(([least]) => past >= least) ?? [];
    if (!size) return "just now";
    const many = Math.floor(past / size);
    return `${many} ${unit}${many === 1 ? "" : "s"} ago`;
  }

  function count() {
    for (const each of document.querySelectorAll("time[data-until]")) each.textContent = `${span(each.dataset.until - now())} left`;
    for (const each of document.querySelectorAll("time[data-at]")) {
      const past = now() - each.dataset.at;
      // What is older is shown by its day.
      if (past >= 0 && past < 14 * 86400) each.textContent = ago(past);
    }
  }

  function tell(sentence) {
    const news = find("#news");
    news.textContent = sentence;
    news.hidden = !sentence;
  }

  const inOneWord = (node) => node.textContent.replace(/just now|\d+ (s|min|h|d|\w+ ago)\b/g, "").replace(/\s+/g, " ");

  function replaceList(fresh) {
    const list = find("#list");
    if (inOneWord(list) === inOneWord(fresh)) return;
    const focused = list.contains(document.activeElement) ? document.activeElement.id : "";
    list.replaceChildren(...fresh.childNodes);
    if (focused) document.getElementById(focused)?.focus();
    showKeysHint();
  }

  function replaceOne(fresh) {
    const one = find("#one");
    if (one.dataset.state === fresh.dataset.state) return;
    const wasPending = one.dataset.status === "pending";
    one.replaceWith(fresh);
    const status = fresh.dataset.status;
    if (wasPending && status !== "pending") tell(`This was ${status.replace("_", "-")} just now.`);
  }

  let isFetching = false;
  let isStale = false;

  async function refresh() {
    if (isFetching) {
      isStale = true;
      return;
    }
    isFetching = true;
    try {
      do {
        isStale = false;
        const answer = await fetch(data.self, { headers: { accept: "text/html" }, cache: "no-store" });
        if (answer.redirected) return location.assign(answer.url);
        if (!answer.ok) break;
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        document.title = fresh.title;
        replaceList(find("#list", fresh));
        replaceOne(find("#one", fresh));
        count();
      } while (isStale);
    } catch {
      tell("Not connected. This page may be out of date.");
    } finally {
      isFetching = false;
    }
  }

  function listen() {
    const changes = new EventSource(data.changes);
    let isLost = false;
    changes.addEventListener("change", () => {
      if (isLost) tell("");
      isLost = false;
      refresh();
    });
    changes.addEventListener("over", () => {
      changes.close();
      location.assign("/");
    });
    changes.addEventListener("error", () => {
      isLost = true;
      tell("Not connected. This page may be out of date.");
    });
    // Close the stream before leaving the page, so that its end is not reported as a lost connection.
    addEventListener("pagehide", () => changes.close());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
  }

  function openForm(name) {
    const form = document.getElementById(name);
    if (!form) return false;
    form.open = true;
    const first = find("[data-first]", form);
    first.focus({ preventScroll: true });
    form.scrollIntoView({ block: "nearest" });
    return true;
  }

  function move(step) {
    const rows = [...document.querySelectorAll("#list a.row")].filter((row) => row.offsetParent);
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    const open = rows.findIndex((row) => row.classList.contains("open"));
    const from = at >= 0 ? at : open;
    const next = from < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(from + step, 0), rows.length - 1);
    rows[next].focus();
  }

  function decide(name) {
    const row = document.activeElement?.closest?.("#list a.row:not(.open)");
    if (row) return location.assign(`${row.href}#${name}`);
    return openForm(name);
  }

  function leave() {
    const open = find(".decide details[open]");
    if (open) {
      open.open = false;
      find("summary", open).focus();
    } else if (find("#one[data-state]")) location.assign(find("#one .back a").href);
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]")) return;
    if (isTyping(event) && event.key !== "Escape") return;
    const isInList = !find("#one[data-state]") || document.activeElement?.closest?.("#list");
    const actions = {
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: isInList && (() => move(1)),
      ArrowUp: isInList && (() => move(-1)),
      a: () => decide("approve"),
      d: () => decide("deny"),
      "?": () => find("#keys").showModal(),
      Escape: leave,
    };
    const action = Object.hasOwn(actions, event.key) && actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  function showKeysHint() {
    const hint = find("#show-keys");
    hint.hidden = false;
    hint.addEventListener("click", () => find("#keys").showModal());
  }

  // Poll long work until it is done; what is typed or open meanwhile stays.
  async function followWork() {
    while (find("[data-working]")) {
      await new Promise((resolve) => setTimeout(resolve, document.hidden ? 5000 : 1000));
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
        if (answer.redirected || !answer.ok) return location.reload();
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const works = [...fresh.querySelectorAll("[data-working]")];
        const shown = [...document.querySelectorAll("[data-working]")];
        if (works.length !== shown.length) return location.reload();
        shown.forEach((each, at) => each.replaceWith(works[at]));
      } catch {
        // The server may be busy or restarting: look again at the next turn.
      }
    }
    return undefined;
  }

  const isTyping = (event) => event.target.closest("input, textarea, select");

  // `g` and a digit go to a page, `/` to the search.
  let wentAt = 0;
  function goByKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || find("dialog[open]")) return;
    const pages = [...document.querySelectorAll(".top nav a")];
    const search = find("input[type=search]");
    if (event.key === "g") wentAt = event.timeStamp;
    else if (event.timeStamp - wentAt < 1500 && /^[0-9]$/.test(event.key)) {
      const page = pages[(Number(event.key) + 9) % 10];
      if (page) location.assign(page.href);
    } else if (event.key === "/" && search) {
      event.preventDefault();
      search.focus();
    }
  }

  // In a conversation: j and k go from message to message, n and p from failure to failure, o opens folds.
  function step(selector, by) {
    const all = [...document.querySelectorAll(selector)];
    const last = find(".turns .current");
    // Where nothing is marked yet, the reading begins at what is in sight.
    const top = (one) => one.getBoundingClientRect().top;
    const from = last ? top(last) : 0;
    const rest = all.filter((one) => one !== last && (by > 0 ? top(one) > from : top(one) < from));
    const next = by > 0 ? rest[0] : rest.at(-1);
    if (!next) return;
    last?.classList.remove("current");
    next.classList.add("current");
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: next.offsetHeight > innerHeight ? "start" : "nearest", behavior: "instant" });
  }

  function fold() {
    const folds = [...(find(".turns .current")?.querySelectorAll("details") ?? [])];
    const isClosed = folds.some((one) => !one.open);
    for (const one of folds) one.open = isClosed;
  }

  function read(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || find("dialog[open]")) return;
    const actions = {
      j: () => step(".turn", 1),
      k: () => step(".turn", -1),
      n: () => step(".call.failed", 1),
      p: () => step(".call.failed", -1),
      o: fold,
      "?": () => find("#keys").showModal(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  function offerCopies() {
    for (const button of document.querySelectorAll("button[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const from = document.getElementById(button.dataset.copy);
        try {
          await navigator.clipboard.writeText(from.textContent);
          button.textContent = "Copied";
        } catch {
          // Browsers give the clipboard only to local and encrypted pages: elsewhere the text is selected.
          getSelection().selectAllChildren(from);
        }
      });
    }
  }

  // Running sessions. The server says that something happened; the page then asks for itself and takes what is new.
  function takeTurn(fresh) {
    const known = document.getElementById(fresh.id);
    if (!known) return find(".turns").append(fresh);
    if (known.textContent === fresh.textContent) return undefined;
    // What was opened stays open.
    const opened = [...known.querySelectorAll("details")].map((one) => one.open);
    [...fresh.querySelectorAll("details")].forEach((one, at) => (one.open ||= opened[at] ?? false));
    if (known.classList.contains("current")) fresh.classList.add("current");
    return known.replaceWith(fresh);
  }

  function takeFresh(fresh) {
    const turns = find(".turns[data-live]");
    if (!turns) {
      const list = find("#live");
      const now = find("#live", fresh);
      if (list.innerHTML !== now.innerHTML) list.replaceChildren(...now.childNodes);
      const section = list.closest("section");
      if (section) section.hidden = !find(".card", list);
      return;
    }
    const isAtEnd = turns.getBoundingClientRect().bottom < innerHeight + 150;
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const now = find(`[data-fresh="${part.dataset.fresh}"]`, fresh);
      if (now && part.innerHTML !== now.innerHTML) part.replaceChildren(...now.childNodes);
    }
    for (const one of [...fresh.querySelectorAll(".turns > li[id]")]) takeTurn(one);
    if (isAtEnd) turns.lastElementChild.scrollIntoView({ block: "end", behavior: "instant" });
  }

  function follow(part) {
    let stream = null;
    let isAsking = false;
    let isOwed = false;
    async function ask() {
      isOwed = isAsking;
      if (isAsking) return;
      isAsking = true;
      try {
        const answer = await fetch(part.dataset.from, { headers: { accept: "text/html" }, cache: "no-store" });
        if (answer.ok && !answer.redirected) takeFresh(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch {
        // The stream connects again by itself, and then asks again.
      }
      // A busy session is asked for a few times a second at most.
      await new Promise((resolve) => setTimeout(resolve, 200));
      isAsking = false;
      if (isOwed) ask();
    }
    function listenOrRest() {
      // Nobody looks at a hidden page, and a browser has only six connections to one server.
      if (document.hidden) {
        stream?.close();
        stream = null;
      } else if (!stream) {
        stream = new EventSource(part.dataset.live);
        stream.addEventListener("change", ask);
        stream.addEventListener("over", () => location.assign("/"));
      }
    }
    document.addEventListener("visibilitychange", listenOrRest);
    addEventListener("pagehide", () => stream?.close());
    listenOrRest();
  }

  offerCopies();
  if (find("[data-live]")) follow(find("[data-live]"));
  if (find(".turns")) {
    addEventListener("keydown", read);
    showKeysHint();
  }
  const current = find(".top nav a[aria-current]");
  if (current) current.parentElement.scrollLeft = current.offsetLeft - current.parentElement.clientWidth / 2;
  addEventListener("keydown", goByKey);
  followWork();
  // Two clicks are one decision.
  addEventListener("submit", (event) => {
    for (const button of event.target.querySelectorAll("button")) setTimeout(() => (button.disabled = true));
  });
  find("#invited")?.requestSubmit();
  if (data.now) setInterval(count, 1000);
  if (!data.self) return;
  if (location.pathname !== new URL(data.self, location).pathname) history.replaceState(null, "", data.self);
  showKeysHint();
  addEventListener("keydown", press);
  const list = find("#list");
  const opened = find(".row.open");
  if (opened) list.scrollTop = opened.offsetTop - list.clientHeight / 3;
  if (["#approve", "#deny"].includes(location.hash)) openForm(location.hash.slice(1));
  listen();
})();

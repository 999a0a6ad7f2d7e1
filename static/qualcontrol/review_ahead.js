// Shows the next caption at once. The page holds some ahead, with their images loaded; a verdict
// is posted behind the reviewer's back, and the answer brings one more. Without this script the
// same forms lead from page to page.

const RETRY_MILLISECONDS = [1000, 2000, 5000, 10000];

/**
 * Run jobs one after another, each until it succeeds; `wait` is told how often one has failed.
 * Returns the function that adds a job and gives the promise of its result.
 */
export function inTurn(wait) {
  let last = Promise.resolve();
  return (job) => {
    const attempt = async () => {
      for (let failures = 0; ; ) {
        try {
          return await job();
        } catch {
          failures += 1;
          await wait(failures);
        }
      }
    };
    last = last.then(attempt);
    return last;
  };
}

/** How long to wait before the next attempt. */
export function pause(failures) {
  return RETRY_MILLISECONDS[Math.min(failures, RETRY_MILLISECONDS.length) - 1];
}

/** Keys, each of which stays until it is removed as often as it was added. */
export class Counted {
  #numbers = new Map();

  add(key) {
    this.#numbers.set(key, (this.#numbers.get(key) ?? 0) + 1);
  }

  remove(key) {
    const left = (this.#numbers.get(key) ?? 0) - 1;
    if (left > 0) this.#numbers.set(key, left);
    else this.#numbers.delete(key);
  }

  clear() {
    this.#numbers.clear();
  }

  has(key) {
    return this.#numbers.has(key);
  }

  get keys() {
    return [...this.#numbers.keys()];
  }
}

/** The text of the status line after a verdict. */
export function recorded(verdict, reason) {
  return verdict === "BAD" ? `Judged bad: ${reason}.` : "Judged good.";
}

/** The chosen reason, as the page words it or in the reviewer's words. */
function reasonIn(form) {
  const radios = [...form.querySelectorAll("input[type=radio]")];
  const chosen = radios.find((radio) => radio.checked);
  if (chosen && chosen === radios.at(-1)) return form.querySelector("input[type=text]").value.trim();
  return chosen?.nextSibling.textContent.trim();
}

export class ReviewPage {
  constructor(root) {
    this.root = root;
    this.ahead = [];
    this.skipped = root.dataset.skipped.split(" ").filter(Boolean);
    this.unsaved = new Counted(); // Keys of items with verdicts, or their end, on the way.
    this.past = []; // Items that were judged or skipped, the latest one last.
    this.again = new Counted(); // Keys of items whose verdict is being taken back.
    this.undo = root.querySelector("[data-review-undo]");
    this.hasEarlier = !this.undo.hidden; // Whether a verdict from before this page can go back.
    this.add = inTurn((failures) => this.tellOfFailure(failures));
    this.keep(root);
  }

  get shown() {
    return this.root.querySelector("[data-review]");
  }

  /** Take the items of a page or an answer out of their templates, which loads their images. */
  keep(source) {
    for (const template of source.querySelectorAll("template[data-review-ahead]")) {
      const item = document.importNode(template.content, true).firstElementChild;
      template.remove();
      if (this.held.includes(item.dataset.key)) continue;
      const image = item.querySelector("img");
      if (image) {
        image.loading = "eager"; // An image that waits to be in view would not load ahead.
        image.decode().catch(() => {});
      }
      this.ahead.push(item);
    }
    if (!this.shown && this.ahead.length > 0) this.show();
  }

  get held() {
    const items = this.shown ? [this.shown, ...this.ahead] : this.ahead;
    return items.map((item) => item.dataset.key);
  }

  /** Put the next item in place of the one that is shown. */
  show() {
    const next = this.ahead.shift();
    if (this.shown) this.say("");
    this.shown?.remove();
    if (!next) {
      this.root.setAttribute("aria-busy", "true");
      return;
    }
    this.root.removeAttribute("aria-busy");
    this.root.append(next);
    this.note(next);
    next.querySelector("[data-review-focus]").focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
    measure();
  }

  /** Fill the status line in place of what was said before. */
  say(words) {
    for (const old of this.root.querySelectorAll("[data-review-messages] .success")) old.remove();
    this.root.querySelector("[data-review-said]").textContent = words;
  }

  judge(form) {
    const fields = new URLSearchParams(new FormData(form));
    const item = this.shown;
    const { key } = item.dataset;
    if (item.dataset.verdict) this.retract(item);
    item.dataset.verdict = fields.get("verdict");
    this.past.push(item);
    const said = recorded(fields.get("verdict"), reasonIn(form));
    this.show();
    this.say(said);
    this.save(key, form.action, fields);
  }

  /** Post what concerns the item with this key, after all that waits already. */
  save(key, address, fields) {
    this.unsaved.add(key);
    return this.add(() => this.post(address, fields)).then((answer) => {
      this.unsaved.remove(key);
      this.take(answer);
    });
  }

  skip() {
    const item = this.shown;
    const token = new FormData(item.querySelector("form")).get("csrfmiddlewaretoken");
    this.skipped.push(item.dataset.key);
    this.past.push(item);
    this.show();
    const fields = new URLSearchParams({ csrfmiddlewaretoken: token });
    this.add(() => this.post(location.pathname, fields)).then((answer) => this.take(answer));
  }

  /** Leave the item to other reviewers. */
  ask(form) {
    const fields = new URLSearchParams(new FormData(form));
    const { key } = this.shown.dataset;
    this.show();
    this.save(key, form.action, fields);
  }

  /** Show the item before this one again, with its verdict; it stays as it is. */
  back() {
    const item = this.past.pop();
    if (!item) return;
    if (this.shown) this.ahead.unshift(this.shown);
    this.put(item);
  }

  forward() {
    if (!this.shown?.dataset.verdict) return;
    this.past.push(this.shown);
    this.show();
    this.endIfDone();
  }

  /** Load the page anew if it shows nothing, and nothing is on the way that brings more. */
  endIfDone() {
    if (!this.shown && this.unsaved.keys.length === 0) location.reload();
  }

  /** Take back the verdict of the item that is shown, or else the last one, and show its item. */
  takeBack(form) {
    if (!this.shown?.dataset.verdict) {
      const place = this.past.findLastIndex((item) => item.dataset.verdict);
      if (place < 0) {
        form.submit();
        return;
      }
      const [item] = this.past.splice(place, 1);
      if (this.shown) this.ahead.unshift(this.shown);
      this.put(item);
    }
    this.retract(this.shown);
    this.note(this.shown);
  }

  retract(item) {
    const { key, takeBack } = item.dataset;
    delete item.dataset.verdict;
    this.again.add(key);
    const fields = new URLSearchParams(new FormData(item.querySelector("form")));
    this.save(key, takeBack, fields).then(() => this.again.remove(key));
  }

  /** Put an item in place of the one that is shown. */
  put(item) {
    this.say("");
    this.shown?.remove();
    this.root.removeAttribute("aria-busy");
    delete item.dataset.choosing;
    for (const form of item.querySelectorAll("form")) form.reset();
    this.root.append(item);
    this.note(item);
    item.querySelector("[data-review-focus]").focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }

  /** Say on the item which verdict it has, and offer the ways from here. */
  note(item) {
    const note = item.querySelector("[data-review-note]");
    const { verdict } = item.dataset;
    note.hidden = !verdict;
    note.textContent = verdict ? `You judged this ${verdict.toLowerCase()}. Another verdict replaces yours, Z takes it back, → goes on.` : "";
    const judged = [item, ...this.past].some((one) => one.dataset.verdict);
    this.undo.hidden = !this.hasEarlier && !judged;
    this.root.querySelector("[data-review-back]").hidden = this.past.length === 0;
    this.root.querySelector("[data-review-forward]").hidden = !verdict;
  }

  /** Items that the answer should leave out; by them the server counts the missing ones. */
  wanted() {
    return { ahead: this.held.join(" "), skip: [...this.skipped, ...this.unsaved.keys].join(" ") };
  }

  post(address, fields) {
    for (const [name, value] of Object.entries(this.wanted())) fields.set(name, value);
    return this.fetch(address, { method: "POST", body: fields });
  }

  /** The answer's items; null for another page, after which this one is loaded anew. */
  async fetch(address, options = {}) {
    const response = await fetch(address, options);
    if (response.status >= 500) throw new Error(response.statusText);
    const template = document.createElement("template");
    template.innerHTML = await response.text();
    return template.content.querySelector("[data-review-answer]");
  }

  take(answer) {
    if (answer === null) {
      // Somebody signed out meanwhile, perhaps. What was not judged comes first again.
      this.unsaved.clear();
      location.reload();
      return;
    }
    const gone = answer.dataset.gone.split(" ").filter((key) => !this.again.has(key));
    this.ahead = this.ahead.filter((item) => !gone.includes(item.dataset.key));
    for (const part of ["[data-review-messages]", "[data-review-left]"]) {
      this.root.querySelector(part).replaceChildren(...answer.querySelector(part).childNodes);
    }
    if (this.root.querySelector("[data-review-messages] .warning")) this.say("");
    this.keep(answer);
    this.endIfDone();
  }

  tellOfFailure(failures) {
    const note = document.createElement("p");
    note.className = "message warning";
    const count = this.unsaved.keys.length;
    note.textContent = `The server does not respond. ${count} unsaved verdict${count === 1 ? "" : "s"}; trying again.`;
    this.root.querySelector("[data-review-messages]").replaceChildren(note);
    return new Promise((resolve) => setTimeout(resolve, pause(failures)));
  }
}

/** Note the time from the key that gave the verdict to the moment the next caption is painted. */
function measure() {
  const start = performance.getEntriesByName("review-key").at(-1);
  performance.clearMarks("review-key");
  if (!start) return;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      performance.measure("review-next", { start: start.startTime, end: performance.now() });
    };
    channel.port2.postMessage(null); // Runs after the frame is painted.
  });
}

function mount(root) {
  const page = new ReviewPage(root);
  // The second click of a double click would judge the next caption, which nobody has read.
  root.addEventListener("click", (event) => {
    if (event.detail < 2 || !event.target.closest(".verdicts")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.target.matches("[data-review-undo]")) page.takeBack(event.target);
    else if (event.target.closest("[data-review-ask]")) page.ask(event.target);
    else page.judge(event.target);
  });
  root.querySelector("[data-review-back]").addEventListener("click", () => page.back());
  root.querySelector("[data-review-forward]").addEventListener("click", () => page.forward());
  root.addEventListener("click", (event) => {
    if (!event.target.closest("[data-review-skip]") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    page.skip();
  });
  window.addEventListener("beforeunload", (event) => {
    if (page.unsaved.keys.length > 0) event.preventDefault();
  });
}

if (globalThis.document) document.querySelectorAll("[data-review-page]").forEach(mount);

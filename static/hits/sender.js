// Keeps what a worker writes on the device, and sends it without leaving the page.

import { ask, deliver, encoded, pause } from "./delivery.js";
import { Draft } from "./drafts.js";

const HEARD_WITHIN = 1_500; // milliseconds in which our marketplace's page around the frame replies
const CHECKED_AFTER = 700; // milliseconds without a change, until a refused answer is checked again
// Messages to the page around the frame about an answer that the marketplace has taken.
const MESSAGES = { accepted: "marketplace:submitted", last: "marketplace:submitted-last" };

/** Post fields to an address as a form that navigates, as the marketplace demands. */
function postOn(address, fields) {
  const form = document.body.appendChild(document.createElement("form"));
  form.method = "post";
  form.action = address;
  form.hidden = true;
  for (const [name, value] of encoded(fields)) {
    const input = form.appendChild(document.createElement("input"));
    Object.assign(input, { type: "hidden", name, value });
  }
  form.submit();
}

/** Show each field's problems. A block of several controls gets the problems of them all. With
 *  `onlyMarked`, fields without problems stay so. */
function showProblems(form, problems, { onlyMarked = false } = {}) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const list = field.querySelector("[data-problems]");
    if (onlyMarked && !list.children.length) continue;
    const controls = [...field.querySelectorAll("[name]")];
    const names = [...new Set(controls.map(({ name }) => name))]; // radio buttons share one
    const items = names.flatMap((name) => problems[name] ?? []);
    // An unchanged list stays, so that screen readers do not repeat it.
    const shown = [...list.children].map((item) => item.textContent);
    if (items.join("\n") !== shown.join("\n")) list.replaceChildren(...items.map(listItem));
    for (const control of controls) {
      if (problems[control.name]) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }
}

function listItem(text) {
  return Object.assign(document.createElement("li"), { textContent: text });
}

/** The form's fields, with the counts of how they were filled in. */
function fieldsOf(form) {
  return Object.fromEntries(new FormData(form));
}

/** The worker's entries, with the counts. */
function writtenIn(form) {
  const { token: _, ...fields } = fieldsOf(form);
  return fields;
}

/** The answer's fields, without what is for our server alone. */
function answerIn(fields) {
  const isOurs = (name) => name === "token" || name.startsWith("behaviour-");
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isOurs(name)));
}

/** Put the fields into the form; return whether this has changed it. */
function fill(form, fields) {
  let isChanged = false;
  for (const [name, value] of Object.entries(fields)) {
    const field = form.elements[name];
    if (!field || (field.value === value && field.type !== "checkbox")) continue;
    if (field.type === "checkbox") {
      isChanged ||= !field.checked;
      field.checked = true;
      continue;
    }
    const isMissing = field.options && ![...field.options].some((one) => one.value === value);
    if (isMissing) field.add(new Option(value, value));
    field.value = value;
    isChanged = true;
  }
  return isChanged;
}

/** Whether a text or a choice differs from what the page came with. */
export function isChanged(form) {
  return [...form.elements].some(
    ({ type, value, defaultValue, checked, defaultChecked }) =>
      checked !== defaultChecked ||
      (["text", "textarea"].includes(type) && value !== defaultValue),
  );
}

/** Tell the page around the frame what became of the answer; resolves to whether it has heard. */
function tellAround(message) {
  if (window.parent === window || !message) return Promise.resolve(false);
  return new Promise((resolve) => {
    addEventListener("message", ({ source, data }) => {
      if (source === window.parent && data === "marketplace:heard") resolve(true);
    });
    window.parent.postMessage(message, "*");
    setTimeout(resolve, HEARD_WITHIN, false);
  });
}

/** Keeps what is written in the form, and sends it. */
export class Sender {
  constructor(form, texts) {
    this.form = form;
    this.texts = texts;
    this.button = form.querySelector(".actions button");
    this.status = form.querySelector("[data-status]");
    this.label = this.button.textContent;
    this.isTouched = this.isSending = this.isWaiting = this.isOver = this.isTimeOver = false;
    this.failures = 0;
    this.sent = null; // the answer that was sent last
    this.draft = new Draft(window.location.search);
    // The other scripts of the page are there then, too.
    document.addEventListener("DOMContentLoaded", () => this.restore());
    this.draft.askAround(() => this.keptAround());
    for (const name of ["input", "change"]) form.addEventListener(name, () => this.edited());
    // Some write before this script is there.
    if (isChanged(form)) this.edited();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    addEventListener("online", () => this.sendAgain());
    addEventListener("message", ({ source, data }) => {
      if (source === window.parent && data === "marketplace:time-over") this.endTime();
    });
    const secondsLeft = Number(form.dataset.secondsLeft);
    // Longer times than a timer has, 24 days, need none.
    if (secondsLeft < 2_000_000) setTimeout(() => this.endTime(), secondsLeft * 1000);
  }

  /** Fill in what was kept, unless the worker has begun anew; the page's other scripts hear it. */
  restore() {
    const { fields } = this.draft;
    if (this.isTouched || !fill(this.form, fields)) return;
    if (!this.isOver) this.status.value = this.texts.restored;
    this.form.dispatchEvent(new CustomEvent("restored", { detail: fields }));
  }

  /** The page around the frame keeps the draft from now on, and gets what is newer than its own. */
  keptAround() {
    if (!this.isTouched) this.restore();
    else if (!this.isOver) this.keep(writtenIn(this.form));
  }

  /** Keep it with the practice before it, if there was one: a reload comes back through that. */
  keep(fields, options) {
    const { practice } = this.draft.fields;
    this.draft.keep(practice ? { ...fields, practice } : fields, options);
  }

  edited() {
    const fields = writtenIn(this.form);
    this.isTouched = true;
    this.keep(fields);
    this.forgetCheck();
    if (this.isSending || this.isOver) return;
    if (JSON.stringify(answerIn(fields)) === this.sent) return;
    // Nothing is sent by itself that the worker has changed since they pressed the button.
    if (this.isWaiting) this.rest();
    if (this.form.querySelector("[data-problems] li")) {
      this.check = setTimeout(() => this.checkAgain(), CHECKED_AFTER);
    }
  }

  /** Check nothing again, and leave aside the reply to a check that is under way. */
  forgetCheck() {
    clearTimeout(this.check);
    this.check = null;
  }

  /** Take away the problems that are corrected. */
  async checkAgain() {
    const { form, check } = this;
    const fields = fieldsOf(form);
    try {
      const { problems } = await ask(form.action, { ...fields, only_check: "1" });
      if (!problems || check !== this.check) return;
      showProblems(form, problems, { onlyMarked: true });
      if (!form.querySelector("[data-problems] li")) this.status.value = "";
    } catch {
      // The shown problems stay until the worker sends the answer again.
    }
  }

  rest(message = "", label = this.label) {
    clearTimeout(this.timer);
    this.forgetCheck();
    this.isWaiting = false;
    this.button.textContent = label;
    this.status.value = message;
    this.status.classList.toggle("problem", label !== this.label);
  }

  /** No part of the answer can be changed while it is sent. The button keeps the focus. */
  lock(isLocked) {
    this.isSending = isLocked;
    this.button.setAttribute("aria-disabled", isLocked);
    const parts = ".notice, .rate-first, figure, [data-field] > :not(.actions)";
    for (const part of this.form.querySelectorAll(parts)) part.inert = isLocked;
  }

  sendAgain() {
    if (this.isWaiting) this.send({ insists: false });
  }

  async send({ insists = this.isWaiting } = {}) {
    if (this.isSending || this.isOver) return;
    const { form } = this;
    const all = fieldsOf(form);
    const answer = answerIn(all);
    this.sent = JSON.stringify(answer);
    // They were about the answer that was sent before.
    showProblems(form, {});
    this.lock(true);
    this.rest(this.texts.saving);
    const { action: site, dataset } = form;
    const { forwardTo: marketplace, assignment } = dataset;
    const result = await deliver({ site, marketplace, assignment, all, answer, insists });
    this.lock(false);
    this.take(result);
  }

  take({ outcome, fields, problems, message }) {
    if (outcome !== "unsent") this.failures = 0;
    if (outcome in MESSAGES) this.finish(MESSAGES[outcome], fields);
    else if (outcome === "leaving") this.leave(fields);
    else if (outcome === "late") this.endTime();
    else if (outcome === "over") this.close(message, this.texts.closed);
    else if (outcome === "unsent") this.wait();
    else if (this.isTimeOver) this.endTime();
    else {
      this.rest(message ?? this.texts.correct);
      if (!problems) return;
      showProblems(this.form, problems);
      this.form.querySelector("[aria-invalid]")?.focus();
    }
  }

  wait() {
    this.failures += 1;
    this.rest(this.texts.notSent, this.texts.tryAgain);
    if (this.isTimeOver) return this.endTime();
    this.isWaiting = true;
    this.timer = setTimeout(() => this.sendAgain(), pause(this.failures));
  }

  async finish(message, fields) {
    this.draft.drop();
    this.close(this.texts.sent);
    if (!(await tellAround(message))) postOn(this.form.dataset.forwardTo, fields);
  }

  /** Another marketplace: it shows what comes next only if the page itself posts the answer. */
  leave(fields) {
    this.keep(writtenIn(this.form), { isSent: true });
    this.close(this.texts.saved);
    postOn(this.form.dataset.forwardTo, fields);
  }

  /** The text stays, so that the worker can copy it. */
  close(message, label = this.label) {
    this.isOver = true;
    this.rest(message, label);
    this.button.disabled = true;
  }

  endTime() {
    this.isTimeOver = true;
    if (!this.isSending && !this.isOver) this.close(this.texts.timeIsOver, this.texts.timeOver);
  }
}

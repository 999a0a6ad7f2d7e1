// The task page's script: counts words while the worker writes, and takes the answer to our server
// first and to the marketplace after that. The page works without it.

import { filled, pageTexts } from "./texts.js";

const PATIENCE = 15_000; // milliseconds until our server counts as not answering

// What a word is, as annotate/language/tokens.py says it; without a look behind, which older browsers lack.
const WORD =
  /(?:\p{N}\p{M}*[.,:](?=\p{N})|[\p{L}\p{N}])(?:\p{N}\p{M}*[.,:](?=\p{N})|['’ʼ\-‐‑](?=[\p{L}\p{N}])|[\p{L}\p{N}\p{M}\u200c\u200d])*/gu;

// Scripts that put no spaces between words: the browser divides them, as the server does, by ICU.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = Intl.Segmenter ? new Intl.Segmenter("en", { granularity: "word" }) : null;

/** The words of a text as our server counts them, which takes out what cannot be seen. */
export function wordsOf(text) {
  const spaced = text.replace(/[\x1c-\x1f\x85]|(?!\ufeff)\s/gu, " ");
  const runs = spaced.replace(/[\p{Cc}\p{Cf}]/gu, "").match(WORD) ?? [];
  return runs.flatMap(divided);
}

/** The words of a run of letters: itself, if its script puts spaces between words. */
function divided(run) {
  if (!segmenter || !UNSPACED.test(run)) return [run];
  const segments = [...segmenter.segment(run)].map(({ segment }) => segment);
  return segments.filter((segment) => /[\p{L}\p{N}]/u.test(segment));
}

/** How many words a text has. */
export function countWords(text) {
  return wordsOf(text).length;
}

/** What the counter says under the field, and whether the caption is long enough. */
export function describeCount(count, least, most, texts) {
  if (count < least) return { text: filled(texts.tooFew, { count, least }), enough: false };
  if (count > most) return { text: filled(texts.tooMany, { count, most }), enough: false };
  return { text: filled(texts.enough, { count }), enough: true };
}

/** Post fields to an address as a form that navigates, as the marketplace demands. */
function postOn(address, fields) {
  const form = document.body.appendChild(document.createElement("form"));
  form.method = "post";
  form.action = address;
  form.hidden = true;
  for (const [name, value] of Object.entries(fields)) {
    const input = form.appendChild(document.createElement("input"));
    input.type = "hidden";
    input.name = name;
    input.value = value;
  }
  form.submit();
}

function mountCounter(output, texts) {
  const area = output.closest("[data-field]").querySelector("textarea");
  const { leastWords, mostWords } = area.dataset;
  const update = () => {
    const { text, enough } = describeCount(countWords(area.value), +leastWords, +mostWords, texts);
    output.value = text;
    output.classList.toggle("enough", enough);
  };
  area.addEventListener("input", update);
  if (area.value) update();
}

/** Show each field's problems, and lead the worker to the first. A block of several controls gets
 *  the problems of them all. */
function showProblems(form, problems) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const controls = [...field.querySelectorAll("[name]")];
    const names = [...new Set(controls.map(({ name }) => name))]; // radio buttons share one
    const items = names.flatMap((name) => problems[name] ?? []).map(listItem);
    field.querySelector("[data-problems]").replaceChildren(...items);
    for (const control of controls) {
      if (problems[control.name]) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }
  form.querySelector("[aria-invalid]")?.focus();
}

function listItem(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

/** The answer's fields as they stand in the form, without what is for our server alone. */
function answerOf(form) {
  const isOurs = (name) => name === "token" || name.startsWith("behaviour-");
  return Object.fromEntries([...new FormData(form)].filter(([name]) => !isOurs(name)));
}

async function send(form) {
  const answer = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    headers: { Accept: "application/json" },
    credentials: "omit",
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (answer.status >= 500) throw new Error(`our server answered ${answer.status}`);
  return { status: answer.status, body: await answer.json() };
}

function mountTask(form) {
  const texts = pageTexts();
  form.querySelectorAll("[data-count]").forEach((output) => mountCounter(output, texts));
  if (!form.dataset.forwardTo) return;
  const button = form.querySelector(".actions button");
  const status = form.querySelector("[data-status]");
  const forward = (fields) =>
    postOn(form.dataset.forwardTo, { assignmentId: form.dataset.assignment, ...fields });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    status.value = texts.saving;
    let answer;
    try {
      answer = await send(form);
    } catch {
      // Our server does not answer. The marketplace keeps the answer, and we fetch it there.
      forward(answerOf(form));
      return;
    }
    if (answer.body.fields) {
      status.value = texts.saved;
      forward(answer.body.fields);
      return;
    }
    button.disabled = false;
    status.value = answer.body.message ?? texts.correct;
    if (answer.body.problems) showProblems(form, answer.body.problems);
  });
}

/** A link to the instructions: opens them, and the focus scrolls the page around the frame, too. */
function mountInstructions(link) {
  const details = document.querySelector(link.hash).querySelector("details");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    details.open = true;
    details.querySelector("summary").focus();
    details.scrollIntoView({ block: "start" });
  });
}

if (globalThis.document) {
  document.querySelectorAll("[data-opens]").forEach(mountInstructions);
  document.querySelectorAll("[data-task]").forEach(mountTask);
  document.querySelectorAll("[data-forward]").forEach((form) => form.requestSubmit());
}

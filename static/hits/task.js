// The task page's script: counts words while the worker writes, keeps and sends the answer. The page
// works without it.

import { Sender } from "./sender.js";
import { filled, pageTexts } from "../kinds/texts.js";

// What a word is, as corpora/language/tokens.py says it; without a look behind, which older browsers lack.
const WORD =
  /(?:\p{N}\p{M}*[.,:](?=\p{N})|[\p{L}\p{N}])(?:\p{N}\p{M}*[.,:](?=\p{N})|['’ʼ\-‐‑](?=[\p{L}\p{N}])|[\p{L}\p{N}\p{M}\u200c\u200d\u070f])*/gu;

// Scripts that put no spaces between words: the browser divides them, as the server does, by ICU.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = Intl.Segmenter ? new Intl.Segmenter("en", { granularity: "word" }) : null;

// Invisible characters, which are removed, except for those in the groups: the tags of a flag, the
// joiners of Malayalam's chillus, and those between letters, marks or emoji, once if they are typed
// twice, as corpora/language/text.py says it.
const JOINED = String.raw`[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`;
const TAGS = String.raw`[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}`;
// Visible signs of the category Cf, which stand before digits or letters.
const SIGNS = String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;
const FORMAT = String.raw`(?!${SIGNS})[\p{Cc}\p{Cf}\p{Cs}]`;
const OTHERS = String.raw`(?![\u200c\u200d])${FORMAT}`;
const INVISIBLE = new RegExp(
  String.raw`(\u0d4d\u200d|\u{1f3f4}${TAGS})` +
    String.raw`|(${JOINED})(?:${OTHERS})*([\u200c\u200d])(?:\3|${OTHERS})*(?=${JOINED})` +
    String.raw`|${FORMAT}`,
  "gu",
);

// Letters and marks that show nothing, such as the Hangul filler and variation selectors.
const BLANK = /^[\p{Default_Ignorable_Code_Point}\p{Z}\u2800]+$/u;

/** A text as our server stores it; empty if it shows nothing. */
export function normalised(text) {
  const spaced = text.normalize("NFC").replace(/(?:[\x1c-\x1f\x85]|(?!\ufeff)\s)+/gu, " ");
  const visible = spaced.replace(/^ | $/g, "").replace(INVISIBLE, "$1$2$3");
  if (visible !== text) return normalised(visible);
  return BLANK.test(text) ? "" : text;
}

/** The words of a text as our server counts them. */
export function wordsOf(text) {
  return (normalised(text).match(WORD) ?? []).flatMap(divided);
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

/** The counter's text under the field, and whether the caption is long enough. */
export function describeCount(count, { least, most, target }, texts) {
  if (count < least) return { text: filled(texts.tooFew, { count, least }), enough: false };
  if (count > most) return { text: filled(texts.tooMany, { count, most }), enough: false };
  if (target) return { text: filled(texts.ofTarget, { count, target }), enough: true };
  return { text: filled(texts.enough, { count }), enough: true };
}

function mountCounter(output, texts) {
  const area = output.closest("[data-field]").querySelector("textarea");
  const { leastWords, mostWords, targetWords } = area.dataset;
  const limits = { least: +leastWords, most: +mostWords, target: +(targetWords ?? 0) };
  const update = () => {
    const { text, enough } = describeCount(countWords(area.value), limits, texts);
    output.value = text;
    output.classList.toggle("enough", enough);
  };
  area.addEventListener("input", update);
  area.form.addEventListener("restored", update);
  if (area.value) update();
}

function mountTask(form) {
  const texts = pageTexts();
  if (form.dataset.forwardTo) new Sender(form, texts);
  form.querySelectorAll("[data-count]").forEach((output) => mountCounter(output, texts));
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

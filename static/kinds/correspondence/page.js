// The task as the server wrote it: its words, boxes and kinds, and the fields that hold the answer.

import { pageTexts } from "../texts.js";
import { boxesIn } from "./state.js";

/** Read a task's fieldset. Words and boxes are lists in the page's order; `suggested` are the
 *  places of the words that need an answer, `gap` is what stands between two words. */
export function readPage(task) {
  const sentence = task.querySelector("[data-sentence]");
  const words = [...sentence.querySelectorAll("[data-word]")].map(readWord);
  return {
    task,
    texts: pageTexts(),
    progress: task.querySelector("[data-progress]").dataset.progress,
    words,
    gap: /\s/.test(sentence.textContent) ? " " : "",
    suggested: [...words.keys()].filter((word) => words[word].isSuggested),
    boxes: [...task.querySelectorAll("[data-boxes] [data-box]")].map((item) => readBox(task, item)),
    kinds: [...task.querySelectorAll("[data-kinds] button")].map(({ value, textContent }) => {
      return { value, label: textContent.trim() };
    }),
  };
}

function readWord(element) {
  return {
    element,
    text: element.textContent,
    isSuggested: element.hasAttribute("data-suggested"),
    field: document.getElementById(element.dataset.select),
    also: document.getElementById(element.dataset.also),
  };
}

function readBox(task, item) {
  const { box: value, number, label } = item.dataset;
  const outline = task.querySelector(`g[data-box="${value}"]`);
  outline.dataset.tone = item.querySelector("[data-tone]").dataset.tone;
  const sides = ["x", "y", "width", "height"].map((side) => {
    return [side, Number(outline.querySelector("rect").getAttribute(side))];
  });
  return { value, number: Number(number), label, item, outline, ...Object.fromEntries(sides) };
}

/** The answers as the fields hold them; the two selects of a word are one answer. */
export function readAnswers(page) {
  return page.words.map(({ field, also }) => {
    const named = boxesIn(`${field.value} ${also.value}`);
    if (named.length === 0) return field.value;
    return page.boxes.map(({ value }) => value).filter((box) => named.includes(box)).join(" ");
  });
}

/** Leave the fields to the script: nobody can be asked to fill in what is not shown. */
export function hideFields(page) {
  page.task.querySelector("[data-selects]").hidden = true;
  for (const { field, also } of page.words) {
    field.required = false;
    also.disabled = true;
  }
}

/** Put the answers into the fields, which get an option for what none offered yet. Only those with
 *  an answer are sent. */
export function writeAnswers(page, answers) {
  page.words.forEach(({ field }, word) => {
    const answer = answers[word];
    if (![...field.options].some((option) => option.value === answer)) {
      field.add(new Option(answer, answer));
    }
    field.value = answer;
    field.disabled = answer === "";
  });
}

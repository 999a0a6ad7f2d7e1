// Keeps the step of a practice and what is being written on the device, so that a reload continues
// there. The page works without it.

import { Draft } from "./drafts.js";

function mount(form) {
  const { practice: token, answer } = form.elements;
  const over = form.querySelector("[data-practice-over]")?.dataset.practiceOver;
  const isPaid = "paid" in form.dataset;
  const isFirst = form.dataset.practice === "1" && Boolean(answer);
  const draft = new Draft(window.location.search);

  function keep() {
    if (over === "failed" && !isPaid) draft.drop();
    // A reload submits nothing: it leads to the last question again.
    else if (!(over && isPaid)) {
      draft.keep({ practice: isFirst ? "" : token.value, answer: answer?.value ?? "" });
    }
  }

  function resume() {
    const kept = draft.fields;
    if (isFirst && kept.practice) {
      token.value = kept.practice;
      form.submit();
      return;
    }
    if (answer && !answer.value && kept.answer) answer.value = kept.answer;
    keep();
  }

  resume();
  draft.askAround(resume);
  form.addEventListener("input", keep);
}

document.querySelectorAll("[data-practice]").forEach(mount);

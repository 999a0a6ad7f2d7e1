// Functions that a HIT's own page expects of Amazon's externalHIT_v1.js, under the same names: the
// parameters of its address, the assignment's id in its form, and no submitting from a preview. A
// plain script, since pages call its functions from theirs.

/** A parameter of the page's address; `otherwise` where there is none. */
function turkGetParam(name, otherwise = "") {
  return new URLSearchParams(window.location.search).get(name) ?? otherwise;
}

/** Put the assignment's id into the form; in a preview, keep its button from submitting. */
function turkSetAssignmentID(formId = "mturk_form", buttonId = "submitButton") {
  const id = turkGetParam("assignmentId");
  const form = document.getElementById(formId);
  const field = document.getElementById("assignmentId");
  if (field) field.value = id;
  if (form) form.method = "post";
  if (id !== "ASSIGNMENT_ID_NOT_AVAILABLE") return;
  const told = "You must ACCEPT the HIT before you can submit the results.";
  const button = document.getElementById(buttonId);
  if (!button) return;
  button.disabled = true;
  if (button.tagName === "INPUT") button.value = told;
  else button.textContent = told;
}

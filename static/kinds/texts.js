// Texts that the server sends with the task page, in the campaign's language.

/** The texts of the page by name. */
export function pageTexts() {
  return JSON.parse(document.getElementById("task-texts").textContent);
}

/** A text of the page with its `{names}` filled in. */
export function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The form of a text for a count, of its forms by the categories of the page's language. */
export function plural(forms, count, language = document.documentElement.lang) {
  return forms[new Intl.PluralRules(language).select(count)] ?? forms.other;
}

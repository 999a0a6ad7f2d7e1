// Buttons that copy the text of another element. They are shown where the browser can copy.

export function mount(button) {
  const label = button.textContent;
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      // Without permission, or when the page is not in front.
      getSelection().selectAllChildren(source);
      button.textContent = "Not copied: press Ctrl+C or ⌘C";
    }
    setTimeout(() => (button.textContent = label), 4000);
  });
}

if (globalThis.navigator?.clipboard && globalThis.document) document.querySelectorAll("[data-copy]").forEach(mount);

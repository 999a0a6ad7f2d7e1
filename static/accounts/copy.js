// Buttons that copy the text of another element. They are shown where the browser can copy.

function mount(button) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 2000);
  });
}

if (globalThis.navigator?.clipboard) document.querySelectorAll("[data-copy]").forEach(mount);

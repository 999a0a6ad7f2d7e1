// The form for photographs: files and folders can be dropped, and the upload shows its progress.
// Without this script, the form sends the chosen files as any form does.

/** The files of a dropped folder, with their paths in it. */
async function filesBelow(entry, path = "") {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, path: path + entry.name }];
  }
  const reader = entry.createReader();
  const found = [];
  // A reader gives at most a hundred entries at once.
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) break;
    for (const inner of entries) found.push(...(await filesBelow(inner, `${path}${entry.name}/`)));
  }
  return found;
}

/** The chosen files in words. */
export function summary(files) {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const megabytes = (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);
  return `${files.length} ${files.length === 1 ? "file" : "files"}, ${megabytes} MB`;
}

/** Why the files cannot be uploaded at once; empty if they can. */
export function problem(files, { mostFiles, mostMegabytes }) {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length > mostFiles) {
    return `${files.length} files are too many for one upload: at most ${mostFiles} are allowed. Upload them in parts, or as a ZIP file.`;
  }
  if (bytes > mostMegabytes * 1_000_000) {
    return `The files have more than ${mostMegabytes} MB together. Upload them in parts.`;
  }
  return "";
}

/** The form's data with the chosen files and their paths in place of its own file field. */
function dataOf(form, files) {
  const data = new FormData(form);
  data.delete("photographs");
  data.delete("complete");
  for (const { file } of files) data.append("photographs", file, file.name);
  data.set("paths", JSON.stringify(files.map(({ path }) => path)));
  // Last, so that the site notices an upload that was cut off.
  data.append("complete", "1");
  return data;
}

export function mount(form) {
  const drop = form.querySelector("[data-drop]");
  const field = form.querySelector("[data-files]");
  const folder = form.querySelector("[data-folder]");
  const state = form.querySelector("[data-state]");
  const bar = form.querySelector("[data-progress]");
  const button = form.querySelector("button");
  const limits = {
    mostFiles: Number(form.dataset.mostFiles),
    mostMegabytes: Number(form.dataset.mostMegabytes),
  };
  let files = [];

  function choose(chosen) {
    files = chosen;
    form.querySelector("[data-chosen]").value = chosen.length ? summary(chosen) : "";
    state.value = problem(chosen, limits);
  }
  form.querySelector("[data-drop-hint]").hidden = false;
  const chooseFiles = () => choose([...field.files].map((file) => ({ file, path: file.name })));
  field.addEventListener("change", chooseFiles);
  // Some choose before this script is there.
  if (field.files.length) chooseFiles();
  folder.addEventListener("change", () => {
    field.value = "";
    choose([...folder.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    const found = await Promise.all(entries.filter(Boolean).map((entry) => filesBelow(entry)));
    field.value = "";
    choose(found.flat());
  });

  form.addEventListener("submit", (event) => {
    if (!files.length) return; // a folder on the server, or no file: the site answers
    event.preventDefault();
    if (problem(files, limits)) return;
    const request = new XMLHttpRequest();
    let toldTenth = -1;
    const failed = () => {
      button.disabled = false;
      bar.classList.add("visually-hidden");
      state.value = "The upload was cut off, so nothing was imported. Try again.";
    };
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total ? loaded / total : 0;
      // A screen reader says each change, so it hears every tenth alone.
      const tenth = Math.floor(10 * bar.value);
      if (tenth === toldTenth) return;
      toldTenth = tenth;
      state.value = `${10 * tenth} % uploaded. Keep this page open until it is done.`;
    });
    request.addEventListener("load", () => {
      // The site redirects to the page of the job, or answers with this page and what is wrong.
      if (request.status < 400 && new URL(request.responseURL).pathname !== location.pathname) {
        location.assign(request.responseURL);
        return;
      }
      const answer = new DOMParser().parseFromString(request.responseText, "text/html");
      const errors = [...answer.querySelectorAll("[role=alert]")].map((e) => e.textContent.trim());
      failed();
      state.value = errors.join(" ") || "The site refused the upload. Reload the page and try again.";
    });
    request.addEventListener("error", failed);
    request.addEventListener("abort", failed);
    request.open("POST", location.pathname);
    request.send(dataOf(form, files));
    button.disabled = true;
    bar.classList.remove("visually-hidden");
  });
}

if (globalThis.document) document.querySelectorAll("[data-upload]").forEach(mount);

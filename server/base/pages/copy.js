/** Puts a button "Copy" beside each block of code. Where it cannot copy, a click selects, as without it. */
const SHOWN_MS = 2_000;

if (navigator.clipboard !== undefined) {
  for (const block of document.querySelectorAll("main pre")) addButton(block);
}

function addButton(block) {
  const box = document.createElement("div");
  box.className = "copyable";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "secondary";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent.replace(/\n$/, ""));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => button.textContent = "Copy", SHOWN_MS);
  });
  block.before(box);
  box.append(block, button);
}

// Small things that every page may have: buttons that copy a text.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copies);
  if (!source) return;
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText("value" in source ? source.value : source.textContent);
    button.textContent = "Copied";
  } catch {
    // A browser that does not let us copy: the text is selected, and a key does the rest.
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = said; }, 1500);
});

// Keys for marking: a key presses the button, opens the part or enters the field that names it.
// Keys that are pressed while a mark is being kept wait for their turn.
const waiting = [];
let busy = false;

document.addEventListener("keydown", (event) => {
  const at = event.target;
  if (event.key === "Escape" && at.matches("input, textarea, select")) {
    at.blur();
    return;
  }
  if (event.key === "Enter" && at.matches(".classes input")) {
    event.preventDefault(); // a note alone is no class
    at.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (at.matches("input, textarea, select")) return;
  if (event.key === "Enter" && at.matches("a, button, summary")) return;
  if (busy) {
    waiting.push(event.key);
  } else if (!press(event.key)) {
    return;
  }
  event.preventDefault();
});

// Returns whether the key means anything here.
function press(key) {
  const name = key.length === 1 ? key.toLowerCase() : key;
  const wanted = document.querySelector(`[data-key="${CSS.escape(name)}"]`);
  if (!wanted) return false;
  if (wanted.matches("input, textarea")) {
    wanted.focus();
    wanted.select();
  } else {
    wanted.click();
  }
  return true;
}

document.addEventListener("htmx:beforeRequest", () => {
  busy = true;
  // What was written is being kept: the keys are for marks again.
  if (document.activeElement.matches("input")) document.activeElement.blur();
});
document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.failed) rest(); });
document.addEventListener("htmx:afterSettle", rest);

function rest() {
  busy = false;
  while (waiting.length && !busy) {
    const key = waiting.shift();
    const at = document.activeElement;
    // A key that waited may have entered a field: those behind it are what is written there.
    if (at.matches("input, textarea")) write(at, key);
    else press(key);
  }
}

function write(field, key) {
  if (key === "Enter") field.form.requestSubmit();
  else if (key === "Escape") field.blur();
  else if (key.length === 1) field.setRangeText(key, field.selectionStart, field.selectionEnd, "end");
}

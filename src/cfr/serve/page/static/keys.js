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
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (busy) {
    waiting.push(key);
  } else if (!press(key)) {
    return;
  }
  event.preventDefault();
});

// Returns whether the key means anything here.
function press(key) {
  const wanted = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
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
  while (waiting.length && !busy) press(waiting.shift());
}

// The playground: asks two methods at the same time, and writes down what each does as it does it.
const form = document.getElementById("ask");
const run = document.getElementById("run");
const stop = document.getElementById("stop");
let asking = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    ask();
  }
});
stop.addEventListener("click", () => asking?.abort());
addEventListener("pagehide", () => asking?.abort());

async function ask() {
  const fields = Object.fromEntries(new FormData(form));
  if (asking || !fields.problem.trim()) {
    document.getElementById("problem").focus();
    return;
  }
  asking = new AbortController();
  history.replaceState(null, "", "/?" + filled(fields));
  run.disabled = true;
  stop.hidden = false;
  const sides = ["left", "right"].filter((side) => fields[side].trim());
  await Promise.all(sides.map((side) => new Side(side, fields).follow(asking.signal)));
  asking = null;
  run.disabled = false;
  stop.hidden = true;
}

function filled(fields) {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value.trim()));
}

class Side {
  constructor(name, fields) {
    const { problem, model, temperature, seed, max_tokens } = fields;
    this.question = { problem, method: fields[name], model, temperature, seed, max_tokens };
    this.box = document.getElementById(name);
    this.box.hidden = false;
    this.box.querySelector("h3").textContent = fields[name];
    this.steps = this.box.querySelector(".steps");
    this.result = this.box.querySelector(".result");
    this.state = this.box.querySelector(".state");
    this.steps.replaceChildren();
    this.result.replaceChildren();
    this.result.hidden = true;
    this.begun = performance.now();
  }

  async follow(signal) {
    this.box.setAttribute("aria-busy", "true");
    this.tick();
    const clock = setInterval(() => this.tick(), 250);
    try {
      await this.read(signal);
    } catch (error) {
      this.fail(signal.aborted ? "Stopped." : `The connection broke off (${error.message}).`);
    } finally {
      clearInterval(clock);
      this.state.textContent = "";
      this.box.removeAttribute("aria-busy");
      this.box.querySelector(".live")?.classList.remove("live");
    }
  }

  tick() {
    this.state.textContent = `${((performance.now() - this.begun) / 1000).toFixed(1)} s`;
  }

  async read(signal) {
    const reply = await fetch("/playground/answer", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(this.question),
      signal,
    });
    if (!reply.ok) {
      this.fail(await refusal(reply));
      return;
    }
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    let ended = false;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const events = (held + value).split("\n\n");
      held = events.pop();
      for (const event of events) {
        if (event.startsWith("data: ")) ended = this.take(JSON.parse(event.slice(6))) || ended;
      }
    }
    if (!ended) this.fail("The server ended the answer early.");
  }

  // Returns whether this was the last event.
  take({ kind, step, text }) {
    if (kind === "end") {
      this.result.hidden = false;
      this.result.innerHTML = text; // made and escaped by the server
      return true;
    }
    if (kind === "error") {
      this.fail(text);
      return true;
    }
    if (kind === "step") {
      this.steps.querySelector(".live")?.classList.remove("live");
      this.steps.append(newStep(step, text));
    }
    const body = this.steps.querySelector(`[data-step="${Number(step)}"] .body`);
    if (!body) return false;
    if (kind === "words" || kind === "thought") write(body, kind, text);
    if (kind === "html") body.innerHTML = text; // made and escaped by the server
    if (kind === "again") body.replaceChildren(paragraph(`${text}: asked again`, "note"));
    return false;
  }

  fail(text) {
    this.result.hidden = false;
    const box = document.createElement("div");
    box.className = "fault";
    box.setAttribute("role", "alert");
    box.append(paragraph(text));
    this.result.replaceChildren(box);
  }
}

function newStep(number, title) {
  const step = document.createElement("section");
  step.className = "step live";
  step.dataset.step = number;
  const head = document.createElement("h4");
  head.textContent = title;
  const body = document.createElement("div");
  body.className = "body said";
  step.append(head, body);
  return step;
}

function write(body, kind, text) {
  let last = body.lastElementChild;
  if (!last?.classList.contains(kind)) {
    last = document.createElement("div");
    last.className = `raw ${kind}`;
    last.append("");
    body.append(last);
  }
  last.firstChild.appendData(text);
}

function paragraph(text, name) {
  const made = document.createElement("p");
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

async function refusal(reply) {
  try {
    return (await reply.json()).error.message;
  } catch {
    return `The server answered ${reply.status}.`;
  }
}

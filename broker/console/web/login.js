// The broker's token, if it needs one: entered once, kept until the tab is closed, and sent with every request. It is not in a cookie,
// because other programs of the machine would get that too: cookies do not tell ports apart.

import { field, h, hexOf } from "./dom.js";

const kKey = "partita-token";

export const token = () => sessionStorage.getItem(kKey) || "";
export const headers = () => (token() ? { Authorization: `Bearer ${token()}` } : {});
/** A page can set no header of a WebSocket but the protocols that it offers. */
export const protocols = () => (token() ? ["partita", `partita.token.${hexOf(token())}`] : []);

let dialog = null;

/** Asks for the token. The page begins anew with it. */
export function logIn() {
  if (dialog) return;
  sessionStorage.removeItem(kKey);
  const problem = h("p", { class: "problem", role: "alert" });
  const input = h("input", { type: "password", name: "token", autocomplete: "off", required: true, spellcheck: "false", autofocus: true });
  const check = async (event) => {
    event.preventDefault();
    const given = input.value.trim();
    let answer;
    try {
      answer = await fetch("/health/ready", { cache: "no-store", headers: { Authorization: `Bearer ${given}` } });
    } catch {
      problem.textContent = "the broker does not answer, or the token has invalid characters";
      return;
    }
    if (answer.status === 401) {
      problem.textContent = "wrong token";
      input.select();
      return;
    }
    sessionStorage.setItem(kKey, given);
    location.reload();
  };
  dialog = h("dialog", { id: "login", "aria-labelledby": "login-title", oncancel: (event) => event.preventDefault() },
    h("form", { onsubmit: check }, h("h2", { id: "login-title" }, "This broker needs its token"),
      field("Token", input, "The broker's operator has it, as partita.http.token or in the file of partita.http.token.file. The console keeps it until this tab is closed."), problem,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Open the console"))));
  document.body.append(dialog);
  dialog.showModal();
}

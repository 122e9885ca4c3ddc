// Passkeys on the page of confirmations: a new one is added, or one signs a decision. Without them, the forms ask for a
// passphrase.
"use strict";
(() => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\+/g, "-")
      .replace(/\//g, "_")
      .replace(/=+$/, "");
  const set = (form, name, value) => {
    const field = form.querySelector(`input[name="${name}"]`) || form.appendChild(document.createElement("input"));
    Object.assign(field, { type: "hidden", name, value });
  };
  // A device knows a page by its name; an address of numbers has none.
  const isNamed = !/^[\d.]+$|^\[/.test(location.hostname);
  if (!window.PublicKeyCredential || !isNamed) return;

  const show = () => {
    document.querySelectorAll("#add-passkey, [data-passkey]").forEach((one) => (one.hidden = false));
    document.querySelectorAll("#no-passkey").forEach((one) => (one.hidden = true));
  };

  const add = async (form) => {
    const name = form.dataset.name;
    const made = await navigator.credentials.create({
      publicKey: {
        challenge: bytes(form.dataset.challenge),
        rp: { name: "Seasoned" },
        user: { id: new TextEncoder().encode(name), name, displayName: name },
        // Ed25519, P-256 and RSA: what devices have.
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { userVerification: "required" },
        attestation: "none",
      },
    });
    set(form, "attestation", text(made.response.attestationObject));
    set(form, "client", text(made.response.clientDataJSON));
    form.submit();
  };

  const decide = async (button) => {
    const form = button.form;
    const body = new URLSearchParams({ check: form.elements.check.value, approve: button.dataset.passkey });
    const answer = await fetch(form.action.replace(/[^/]+$/, "challenge"), { method: "POST", body });
    if (!answer.ok) throw new Error("reload the page");
    const asked = await answer.json();
    const found = await navigator.credentials.get({
      publicKey: {
        challenge: bytes(asked.challenge),
        allowCredentials: asked.credentials.map((id) => ({ type: "public-key", id: bytes(id) })),
        userVerification: "required",
      },
    });
    const said = {
      credential: found.id,
      statement: asked.statement,
      authenticator: text(found.response.authenticatorData),
      client: text(found.response.clientDataJSON),
      value: text(found.response.signature),
    };
    set(form, "passkey", JSON.stringify(said));
    form.submit();
  };

  const told = (place, error) => {
    if (place) place.textContent = `The passkey was not used (${error.message}). Try again, or type your passphrase.`;
  };
  // On the document: the page replaces its parts when something changes.
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "add-passkey") return;
    event.preventDefault();
    add(event.target).catch((error) => told(event.target.querySelector("p"), error));
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-passkey]");
    if (!button) return;
    decide(button).catch((error) => told(button.parentElement.querySelector("[data-passkey-problem]"), error));
  });
  new MutationObserver(show).observe(document.body, { childList: true, subtree: true });
  show();
})();

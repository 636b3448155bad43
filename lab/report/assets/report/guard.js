// First of all scripts: what goes wrong later is kept on the page, where a test finds it.
(() => {
  const root = document.documentElement;
  const note = (message) => {
    root.dataset.errors = (root.dataset.errors ? root.dataset.errors + "\n" : "") + message;
  };
  addEventListener("error", (event) => note(event.message));
  addEventListener("unhandledrejection", (event) => note(String(event.reason)));
  addEventListener("securitypolicyviolation", (event) => note("blocked: " + event.blockedURI));
  const log = console.error;
  console.error = (...words) => {
    note(words.join(" "));
    log.apply(console, words);
  };
})();

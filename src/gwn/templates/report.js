// A link to a folded exhibit opens it.
"use strict";
(function () {
  const open = () => {
    const goal = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (goal && goal.tagName === "DETAILS") { goal.open = true; goal.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
  document.body.dataset.ready = "report";
})();

// A picture under a mouse or fingers: a click chooses a node, dragging moves the view, a wheel or two fingers zoom it.
"use strict";
(function (GWN) {
  GWN.followPointer = function (canvas, picture, view, { choose, hover, redraw }) {
    let drag = null;
    const fingers = new Map();
    const spot = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, spot(event));
      canvas.setPointerCapture(event.pointerId);
      drag = { from: spot(event), moved: fingers.size > 1 };
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = spot(event), old = fingers.get(event.pointerId);
      if (!old) { hover(picture.nodeAt(x, y, 6)); return; }
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const factor = Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(old[0] - other[0], old[1] - other[1]));
        picture.zoomAt(factor, (x + other[0]) / 2, (y + other[1]) / 2);
        redraw();
      } else if (drag.moved || Math.hypot(x - drag.from[0], y - drag.from[1]) > 5) {
        drag.moved = true;
        if (view.zoom > 1) { picture.pan(x - old[0], y - old[1]); redraw(); }
      }
      fingers.set(event.pointerId, [x, y]);
    });
    canvas.addEventListener("pointerup", (event) => {
      const [x, y] = spot(event);
      fingers.delete(event.pointerId);
      if (!drag || drag.moved) return;
      const node = picture.nodeAt(x, y, event.pointerType === "mouse" ? 6 : 18);
      if (node >= 0) choose(node);
    });
    canvas.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => hover(-1));
    canvas.addEventListener("wheel", (event) => {
      if (view.zoom === 1 && event.deltaY > 0 && !event.ctrlKey) return;  // no farther: the page scrolls
      event.preventDefault();
      picture.zoomAt(Math.exp(-event.deltaY / 400), ...spot(event));
      redraw();
    }, { passive: false });
  };
})(window.GWN);

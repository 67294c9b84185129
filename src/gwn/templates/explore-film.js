// Pictures and films of what is shown, as files.
"use strict";
(function (GWN) {
  const FILMS = ["video/webm", "video/mp4"];

  const HEAD = 30, ROW = 22, SIDE = 12, GAP = 14;

  // Where each of the meanings of colours stands: behind the line where all of them fit, or in rows below it.
  function spots(pen, meaning, line, end) {
    const sized = meaning.map(([colour, text]) => ({ colour, text, dot: colour ? 14 : 0, width: (colour ? 14 : 0) + pen.measureText(text).width }));
    const behind = SIDE + pen.measureText(line).width + 24, all = sized.reduce((sum, { width }) => sum + width + GAP, -GAP);
    let [x, row] = behind + all <= end ? [behind, 0] : [SIDE, 1];
    for (const each of sized) {
      if (x > SIDE && x + each.width > end) { x = SIDE; row++; }
      Object.assign(each, { x, row });
      x += each.width + GAP;
    }
    return sized;
  }

  // `shown()` gives { pictures, titles, line, longest, meaning }: what stands side by side, what is said above each and
  // below all of them, now and where that is longest, and what colours mean.
  GWN.Film = class {
    constructor(name, shown, { begin, end, say, label }) {
      Object.assign(this, { name, shown, begin, end, say, label, recorded: null });
    }

    get running() {
      return this.recorded !== null;
    }

    compose(canvas) {
      const { pictures, titles, line, longest, meaning } = this.shown(), theme = GWN.theme();
      const [width, height] = pictures[0].size(), across = width * pictures.length, end = across - SIDE;
      const pen = canvas.getContext("2d"), font = "13px " + theme.font;
      pen.font = font;
      const said = spots(pen, meaning, longest, end), down = HEAD + height + HEAD + ROW * said.at(-1).row;
      if (canvas.width !== across || canvas.height !== down) {
        canvas.width = across;
        canvas.height = down;
      }
      pen.font = font;  // a new size forgets it
      pen.fillStyle = theme.paper;
      pen.fillRect(0, 0, across, down);
      pen.textBaseline = "middle";
      pictures.forEach((picture, k) => {
        for (const layer of picture.canvases) pen.drawImage(layer, k * width, HEAD, width, height);
        pen.fillStyle = theme.soft;
        pen.fillText(titles[k], k * width + SIDE, HEAD / 2 + 2, width - 2 * SIDE);
      });
      pen.fillStyle = theme.ink;
      const level = HEAD + height + HEAD / 2;
      pen.fillText(line, SIDE, level, end - SIDE);
      for (const { colour, text, dot, x, row } of said) {
        if (colour) {
          pen.fillStyle = colour;
          pen.beginPath();
          pen.arc(x + 5, level + ROW * row, 5, 0, 7);
          pen.fill();
        }
        pen.fillStyle = theme.soft;
        pen.fillText(text, x + dot, level + ROW * row, end - x - dot);
      }
      return canvas;
    }

    download(blob, ending) {
      const link = document.createElement("a"), url = URL.createObjectURL(blob);
      link.href = url;
      link.download = `wave-${this.name.replace(/[^\p{L}\p{N}_-]+/gu, "-")}.${ending}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
      this.say("saved as " + link.download);
    }

    savePicture() {
      this.compose(document.createElement("canvas")).toBlob((blob) => this.download(blob, "png"));
    }

    // One pass of the wave; asked again, it ends where it is.
    record() {
      if (this.running) { this.end(); return; }
      const type = window.MediaRecorder && FILMS.find((each) => MediaRecorder.isTypeSupported(each));
      if (!type) { this.say("this browser records no films; gwn explore --animate writes a GIF"); return; }
      this.end();
      const canvas = this.compose(document.createElement("canvas")), parts = [];
      const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 4e6 });
      recorder.ondataavailable = (event) => { if (event.data.size) parts.push(event.data); };
      recorder.onstop = () => this.download(new Blob(parts, { type }), type.split("/")[1]);
      this.recorded = { canvas, recorder, parts };
      recorder.start(100);
      this.label("Stop");
      this.say("recording one pass of the wave");
      this.begin();
    }

    frame() {
      if (this.running) this.compose(this.recorded.canvas);
    }

    finish() {
      const { canvas, recorder, parts } = this.recorded;
      this.recorded = null;
      this.label("Save film");
      // on a busy machine the encoder may not have met a frame yet: the last one is drawn again until it has
      const stop = () => {
        if (parts.length) { recorder.stop(); return; }
        this.compose(canvas);
        setTimeout(stop, 50);
      };
      stop();
    }
  };
})(window.GWN);

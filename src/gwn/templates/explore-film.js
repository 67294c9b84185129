// Pictures and films of what is shown, as files.
"use strict";
(function (GWN) {
  const FILMS = ["video/webm", "video/mp4"];

  // `shown()` gives { pictures, titles, line, meaning }: what stands side by side, what is said above each and below all
  // of them, and what colours mean.
  GWN.Film = class {
    constructor(name, shown, { begin, end, say, label }) {
      Object.assign(this, { name, shown, begin, end, say, label, recorded: null });
    }

    get running() {
      return this.recorded !== null;
    }

    compose(canvas) {
      const { pictures, titles, line, meaning } = this.shown(), theme = GWN.theme(), [width, height] = pictures[0].size();
      const head = 30, foot = 30;
      if (canvas.width !== width * pictures.length || canvas.height !== height + head + foot) {
        canvas.width = width * pictures.length;
        canvas.height = height + head + foot;
      }
      const pen = canvas.getContext("2d");
      pen.fillStyle = theme.paper;
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.font = "13px " + theme.font;
      pen.textBaseline = "middle";
      pictures.forEach((picture, k) => {
        for (const layer of picture.canvases) pen.drawImage(layer, k * width, head, width, height);
        pen.fillStyle = theme.soft;
        pen.fillText(titles[k], k * width + 12, head / 2 + 2, width - 24);
      });
      pen.fillStyle = theme.ink;
      const level = canvas.height - foot / 2, end = canvas.width - 12;
      pen.fillText(line, 12, level, end - 12);
      let x = 12 + pen.measureText(line).width + 24;
      for (const [colour, text] of meaning) {
        const width = (colour ? 14 : 0) + pen.measureText(text).width;
        if (x + width > end) break;
        if (colour) {
          pen.fillStyle = colour;
          pen.beginPath();
          pen.arc(x + 5, level, 5, 0, 7);
          pen.fill();
        }
        pen.fillStyle = theme.soft;
        pen.fillText(text, x + (colour ? 14 : 0), level);
        x += width + 14;
      }
      return canvas;
    }

    download(blob, ending) {
      const link = document.createElement("a"), url = URL.createObjectURL(blob);
      link.href = url;
      link.download = `wave-${this.name.replace(/[^\w-]+/g, "-")}.${ending}`;
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

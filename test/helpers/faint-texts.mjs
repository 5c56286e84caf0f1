/* global document, getComputedStyle, SVGElement */
// Run in a page: its texts whose contrast to what is behind them is under 4.5:1, with the contrast.
(() => {
  const canvas = document.createElement("canvas").getContext("2d");
  const parse = (color) => {
    if (canvas === null) return [];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r = 0, g = 0, b = 0] = color.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.querySelectorAll(
    "body *:not(script):not(style):not(noscript *):not(svg title)",
  )) {
    const text = [...element.childNodes]
      .filter((node) => node.nodeType === 3)
      .map((node) => node.textContent)
      .join("")
      .trim();
    if (
      text === "" ||
      element.closest(".unseen, [hidden], details:not([open]), script, noscript") !== null
    )
      continue;
    let behind = element;
    while (behind !== null && parse(getComputedStyle(behind).backgroundColor)[3] !== 255)
      behind = behind.parentElement;
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [
      light(parse(ink)),
      light(parse(getComputedStyle(behind ?? document.body).backgroundColor)),
    ];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5)
      found.push(`${contrast.toFixed(2)} ${text.slice(0, 40)} ${element.className.toString()}`);
  }
  return [...new Set(found)];
})();

import { describe, expect, it } from "vitest";
import { html, jsonScript } from "../../../src/view/html/markup.ts";

describe("markup", () => {
  it("escapes what is put in, in text and in attributes, also inside lists", () => {
    const text = `<script>"&'`;
    expect(html`<b title="${text}">${[text, html`<i>${1}</i>`]}</b>`.text).toBe(
      `<b title="&lt;script&gt;&quot;&amp;&#39;">&lt;script&gt;&quot;&amp;&#39;<i>1</i></b>`,
    );
  });

  it("leaves out null and false, not 0", () => {
    expect(html`${null}${false}${0}${""}`.text).toBe("0");
  });

  it("holds JSON from which no script can break out", () => {
    const { text } = jsonScript("a", { text: "</script><!--" });
    expect(text.match(/</g)).toHaveLength(2);
    expect(JSON.parse(/>(.*)<\/script>/.exec(text)![1]!)).toEqual({ text: "</script><!--" });
  });
});

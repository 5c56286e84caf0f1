import { expect, it } from "vitest";
import { cardForecast, forecastText } from "../../src/exports/card-forecast.ts";
import { publishedShapes } from "../../src/models/published-shapes.ts";

it("counts what a card holds: Qwen2.5-7B on eight, 16 384 tokens at once", () => {
  const { config } = publishedShapes.find(({ name }) => name === "Qwen/Qwen2.5-7B")!;
  const forecast = cardForecast(config, { gpus: 8, tokens: 16_384 });
  // 16 bytes of 7 615 616 512 parameters, an eighth.
  expect(forecast.states).toBe(15_231_233_024);
  // 28 layers of 3584 numbers, and once 3 · 18 944 + 10 · 3584, each in 2 bytes.
  expect(forecast.activations).toBe(2 * 16_384 * (28 * 3584 + 3 * 18_944 + 35_840));
  expect(forecast.sampling).toBe(2 * 7_615_616_512);
  const { states, gathered, activations, scores, training } = forecast;
  expect(training).toBe(states + gathered + activations + scores);
  expect(forecastText(forecast)).toMatch(/a card of 80\.0 GB holds it\.$/);
  const one = cardForecast(config, { gpus: 1, tokens: 16_384 });
  expect(forecastText(one)).toMatch(/192(\.0)? GB holds it/);
});

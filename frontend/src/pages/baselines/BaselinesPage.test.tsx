import { openPage, screen, test } from "../../testing";

test("without baselines the page says what to do first", async ({ server }) => {
  server.on("GET /baselines", { baselines: [] });
  openPage("/baselines");
  await screen.findByText("No baselines yet");
});

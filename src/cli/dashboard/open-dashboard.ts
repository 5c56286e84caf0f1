import { errorMessage } from "../../base/errors.ts";
import type { RunControl } from "../../run/folder/run-control.ts";
import type { RunEvents } from "../../run/train/run-events.ts";
import { segmentText } from "../../trajectory/trajectory.ts";
import type { CliContext } from "../command.ts";
import { holdTerminal } from "../held-terminal.ts";
import { type TrainWatch, trainLines } from "../train-lines.ts";
import { frameOf } from "./Dashboard.tsx";
import { type FollowedRun, type RunPast, followRun } from "./follow-run.ts";
import type { FrameProps } from "./frame.ts";
import { type KeyStream, type Keys, openKeys } from "./keys.ts";
import { type FrameStream, type LiveScreen, liveScreen } from "./live-screen.ts";
import type { RunFacts } from "./run-view.ts";
import type { TerminalSignals } from "./terminal-signals.ts";
import { type Clock, type Throttled, throttled } from "./throttle.ts";

/** The terminal that the view is drawn on. */
export type DashboardStream = FrameStream & {
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
};

export interface DashboardOptions {
  facts: RunFacts;
  control: RunControl;
  colours: boolean;
  /** Where frames go: stderr. */
  stream: DashboardStream;
  /** Source of keys: stdin. */
  keyboard: KeyStream;
  clock: Clock;
  signals: TerminalSignals;
  /** Reads the run folder's state; called once the run has opened it. */
  readPast: () => Promise<RunPast>;
  /** Loads the tokenizer, at the same time. Without it only messages are shown. */
  openTexts: () => Promise<FrameProps["textOf"]>;
}

/** Fewest milliseconds between two frames: events can wait, keys should not. Without either a frame follows after a second. */
const WAIT = { news: 500, key: 100, clock: 1000 };

/**
 * The live view of a training. Ink makes the frames, and LiveScreen draws them: Ink's own drawing takes over signals, erases the
 * scrollback, and leaves the cursor hidden if the process is killed.
 *
 * It ends by `stop`, or when the run is interrupted; its last frame stays. If it fails, lines replace it: a failed view never ends a run.
 */
export function openDashboard(context: CliContext, options: DashboardOptions): TrainWatch {
  const dashboard = new LiveDashboard(context, options);
  return {
    news: dashboard.news(),
    stop: () => {
      dashboard.stop();
    },
  };
}

class LiveDashboard {
  readonly #context: CliContext;
  readonly #options: DashboardOptions;
  readonly #run: FollowedRun;
  readonly #screen: LiveScreen;
  readonly #keys: Keys;
  readonly #redraw: Throttled;
  #state: "waiting" | "shown" | "suspended" | "ended" = "waiting";
  /** The lines that replace a failed view. */
  #lines: TrainWatch | null = null;
  #help = false;
  #rollout = 0;
  #isFolderOpen = false;
  #textOf: FrameProps["textOf"] = (segment) => segmentText(segment, null);
  #callOffTick: () => void = () => undefined;
  #letGo: () => void = () => undefined;

  constructor(context: CliContext, options: DashboardOptions) {
    this.#context = context;
    this.#options = options;
    this.#run = followRun(options.facts, options.control, () => options.clock.now());
    this.#screen = liveScreen(options.stream);
    this.#keys = openKeys(options.keyboard, (key) => {
      this.#press(key);
    });
    this.#redraw = throttled(() => {
      this.#draw();
    }, options.clock);
  }

  /** The run's events, each followed by a frame. */
  news(): RunEvents {
    const told =
      <K extends keyof RunEvents>(name: K, opensFolder = true) =>
      (...news: Parameters<RunEvents[K]>): void => {
        const tell = (to: RunEvents): void => {
          (to[name] as (...args: Parameters<RunEvents[K]>) => void)(...news);
        };
        if (this.#lines !== null) {
          tell(this.#lines.news);
          return;
        }
        tell(this.#run.news);
        if (opensFolder) this.#openFolder();
        this.#show();
      };
    return {
      onRewardCheck: told("onRewardCheck", false),
      onData: told("onData", false),
      onValidation: told("onValidation"),
      onEvaluationStart: told("onEvaluationStart"),
      onEvaluationProgress: told("onEvaluationProgress"),
      onEvaluation: told("onEvaluation"),
      onStage: told("onStage"),
      onStageProgress: told("onStageProgress"),
      onBatch: told("onBatch"),
      onStep: told("onStep"),
      onEvent: told("onEvent"),
    };
  }

  stop(): void {
    this.#lines?.stop();
    const isOpen = this.#state === "shown" || this.#state === "suspended";
    if (this.#state === "shown") this.#draw(true);
    this.#end();
    const { asked, step, totalSteps } = this.#run.view();
    if (isOpen && asked.stop && step < (totalSteps ?? 0))
      this.#context.note(
        `Stopped after step ${step} of ${totalSteps} as requested; --resume continues.`,
      );
  }

  /** The first event shows it: a download before has its own bar. */
  #show(): void {
    if (this.#state === "waiting") {
      this.#state = "shown";
      this.#letGo = holdTerminal((write) => {
        this.#screen.clear();
        write();
        this.#draw();
      });
      this.#options.stream.on("resize", this.#resized);
      this.#context.signal.addEventListener("abort", this.#interrupted);
      this.#keys.take();
      this.#tick();
    }
    this.#redraw.askSparingly(WAIT.news);
  }

  #end(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#redraw.stop();
    this.#callOffTick();
    this.#keys.giveBack();
    this.#options.stream.off("resize", this.#resized);
    this.#context.signal.removeEventListener("abort", this.#interrupted);
    this.#letGo();
  }

  readonly #resized = (): void => {
    this.#redraw.ask(WAIT.key);
  };

  readonly #interrupted = (): void => {
    this.stop();
  };

  /** Durations change without events, too. */
  #tick(): void {
    if (this.#state === "suspended" && this.#options.signals.isForeground()) this.#goOn();
    this.#redraw.askSparingly(WAIT.news);
    this.#callOffTick = this.#options.clock.later(WAIT.clock, () => {
      this.#tick();
    });
  }

  #draw(ended = false): void {
    if (this.#state !== "shown") return;
    const { stream, colours } = this.#options;
    const terminal = { columns: stream.columns ?? 80, rows: stream.rows ?? 24 };
    const keys = this.#keys.able;
    const shown = { help: this.#help && !ended, rollout: this.#rollout, textOf: this.#textOf };
    try {
      const view = this.#run.view();
      const frame = frameOf({ view, terminal, colours, keys, ended, ...shown });
      this.#screen.draw(frame);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#end();
    this.#lines = trainLines(this.#context, this.#options.facts.emMetric);
    this.#context.note(
      `The live view failed and is closed: ${errorMessage(error)}. The run continues; --plain turns the view off.`,
    );
  }

  #openFolder(): void {
    if (this.#isFolderOpen) return;
    this.#isFolderOpen = true;
    const { readPast, openTexts } = this.#options;
    // A failure here must not end the run: unreadable data is not shown.
    void readPast().then(
      (past) => {
        this.#run.remember(past);
        this.#redraw.askSparingly(WAIT.news);
      },
      () => undefined,
    );
    void openTexts().then(
      (textOf) => {
        this.#textOf = textOf;
        this.#redraw.askSparingly(WAIT.news);
      },
      () => undefined,
    );
  }

  #press(key: string): void {
    const { control, signals } = this.#options;
    switch (key) {
      case "t":
        this.#rollout += 1;
        break;
      case "?":
      case "h":
        this.#help = !this.#help;
        break;
      case CTRL.c:
        // From now on the terminal sends the signal itself, which kills even a stuck process.
        this.stop();
        signals.interrupt();
        return;
      case CTRL.z:
        this.#suspend();
        return;
      case CTRL.backslash:
        this.stop();
        signals.quit();
        return;
      case CTRL.l:
        this.#screen.clear();
        break;
      default:
        if (!askRun(key, control, this.#run)) return;
    }
    this.#redraw.ask(WAIT.key);
  }

  #suspend(): void {
    this.#screen.clear();
    this.#keys.giveBack();
    this.#state = "suspended";
    this.#options.signals.suspend(() => {
      if (this.#options.signals.isForeground()) this.#goOn();
    });
  }

  /** Back in the foreground. */
  #goOn(): void {
    if (this.#state !== "suspended") return;
    this.#state = "shown";
    this.#keys.take();
    this.#redraw.ask(WAIT.key);
  }
}

const CTRL = { c: "\u0003", z: "\u001a", l: "\u000c", backslash: "\u001c" };

/** Sends a key's request to a run. @returns whether the key has one. */
function askRun(key: string, control: RunControl, run: Pick<FollowedRun, "ask">): boolean {
  switch (key) {
    case "p":
      if (control.paused) {
        control.resume();
        return true;
      }
      control.pause();
      run.ask("pause");
      return true;
    case "s":
      control.save();
      run.ask("save");
      return true;
    case "e":
      control.evaluate();
      run.ask("evaluate");
      return true;
    case "q":
      control.stop();
      run.ask("stop");
      return true;
    default:
      return false;
  }
}

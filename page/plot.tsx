/** A small plot of values over time. What it shows is also there as a sentence, for those who do not see it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { usePreferences } from './preferences.js';

export interface Series {
  label: string;
  values: (number | null)[];
  /** A number of the palette, 1 to 6; `limit` is a dashed line. */
  colour: number | 'limit';
}

interface PlotProps {
  /** Names what it shows, as a heading. */
  title: string;
  /** Seconds since the epoch. */
  times: number[];
  series: Series[];
  /** Stacked bars instead of lines. */
  bars?: boolean;
  /** The axis shows days and no time of day. */
  days?: boolean;
}

const HEIGHT = 180;
const HALF_A_DAY = 43_200;
const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 360].map((minutes) => minutes * 60);
const DAYS = [1, 2, 7, 14, 28].map((count) => count * 86_400);
/** The library is half of the page's script: it comes after the first view. */
const loading = () => import('uplot').then((loaded) => loaded.default);

export function Plot({ title, times, series, bars = false, days = false }: PlotProps) {
  const { theme, number, language } = usePreferences();
  const box = useRef<HTMLDivElement>(null);
  const [UPlot, setUPlot] = useState<typeof uPlot | null>(null);
  useEffect(() => void loading().then((library) => setUPlot(() => library)), []);
  useEffect(() => {
    const element = box.current;
    if (element === null || times.length === 0 || UPlot === null) return;
    const barsOf = UPlot.paths.bars?.({ size: [0.7, 40] });
    const draw = (): uPlot => {
      const colour = (name: string): string => resolved(element, name);
      const stacked = bars ? stack(series) : series;
      const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
      const day = new Intl.DateTimeFormat(language, { month: 'numeric', day: 'numeric' });
      const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
      const options: uPlot.Options = {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: true, ...(bars && { range: (_, min, max) => [min - HALF_A_DAY, max + HALF_A_DAY] }) },
          y: { range: (_, _min, max) => [0, Math.max(1, max * 1.1)] },
        },
        axes: [
          {
            ...axis,
            size: 30,
            // No smaller than what a label shows: the same label would stand there several times.
            incrs: days ? DAYS : MINUTES,
            values: (_, at) => at.map((seconds) => (days ? day : time).format(new Date(seconds * 1_000))),
          },
          { ...axis, size: 44, values: (_, at) => at.map((value) => (Number.isInteger(value) ? number(value) : '')) },
        ],
        series: [
          {},
          ...stacked.map(({ label, colour: of }): uPlot.Series => {
            const isLimit = of === 'limit';
            const stroke = colour(isLimit ? '--quiet' : `--series-${of}`);
            const line = {
              width: isLimit ? 1 : 2,
              points: { show: times.length < 2 },
              ...(isLimit && { dash: [5, 4] }),
            };
            const bar = { fill: stroke, width: 0, points: { show: false }, ...(barsOf && { paths: barsOf }) };
            return { label, stroke, ...(bars ? bar : line) };
          }),
        ],
      };
      return new UPlot(options, [times, ...stacked.map(({ values }) => values)] as uPlot.AlignedData, element);
    };
    let plot = draw();
    const again = (): void => {
      plot.destroy();
      plot = draw();
    };
    const resized = new ResizeObserver(() => {
      if (Math.abs(plot.width - element.clientWidth) > 1)
        plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT });
    });
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    return () => {
      dark.removeEventListener('change', again);
      resized.disconnect();
      plot.destroy();
    };
  }, [times, series, theme, language, UPlot]);
  return (
    <figure class="plot">
      <figcaption>
        <span>{title}</span>
        <ul class="legend">
          {series.map(({ label, colour }) => (
            <li key={label} class={String(colour)} style={{ '--legend': `var(--series-${colour})` }}>
              {label}
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        class="canvas"
        ref={box}
        role="img"
        aria-label={`${title}. ${series.map((one) => `${one.label}: ${number(one.values.at(-1) ?? 0)}`).join(', ')}`}
      />
    </figure>
  );
}

/** A canvas does not know `light-dark()`; the colour of an element does. */
function resolved(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** Each series on top of those after it; the highest is drawn first, so that the others stay visible. */
function stack(series: readonly Series[]): Series[] {
  return series.map((one, index) => ({
    ...one,
    values: one.values.map((_, at) => series.slice(index).reduce((sum, other) => sum + (other.values[at] ?? 0), 0)),
  }));
}

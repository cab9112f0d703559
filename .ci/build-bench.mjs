// Compiles the benchmarks with what they measure, as users run it. A loader that compiles at run time would slow down our code and not the
// libraries that it is compared with: it gives each function its name when the function is made.
import { compile } from './compile.mjs';

compile('tsconfig.bench.json', 'dist-bench');

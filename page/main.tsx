/** The status page. It shows what its server answers as text, and runs nothing that comes from there. */
import 'uplot/dist/uPlot.min.css';
import './styles.css';
import { render } from 'preact';
import { App } from './app.js';
import { PreferencesProvider } from './preferences.js';

const root = document.getElementById('app');
if (root !== null)
  render(
    <PreferencesProvider>
      <App />
    </PreferencesProvider>,
    root,
  );

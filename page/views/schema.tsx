/** The fields of a list and their types of values. */
import { useState } from 'preact/hooks';
import { pathOf, type SectionProps } from '../api.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { Choice, Columns, Head, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';

export function Schema({ about }: SectionProps) {
  const { t, word, number, percent, valueType } = usePreferences();
  const { query } = usePlace();
  const [search, setSearch] = useState('');
  const workspace = about.workspaces.find(({ name }) => name === query.get('workspace')) ?? about.workspaces[0];
  const lists = workspace?.lists.filter(({ enabled }) => enabled) ?? [];
  const list = lists.find(({ name }) => name === query.get('list')) ?? lists[0];
  const path =
    workspace === undefined || list === undefined
      ? null
      : pathOf('readSchema', { workspace: workspace.name, list: list.name });
  const { value, error } = usePolled(path, 15_000);
  const go = (next: { workspace?: string; list?: string }): void => {
    location.hash = placeOf('schema', { workspace: workspace?.name ?? '', list: list?.name ?? '', ...next });
  };
  const fields = value?.fields.filter(({ field }) => field.toLowerCase().includes(search.toLowerCase())) ?? [];
  return (
    <>
      <Head title={t('schema.title')}>{t('schema.intro')}</Head>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          {about.workspaces.length > 1 && (
            <Choice
              label={t('filter.workspace')}
              value={workspace?.name}
              onChoose={(name) => go({ workspace: name })}
              options={about.workspaces.map(({ name }) => [name, name])}
            />
          )}
          <Choice
            label={t('lists.list')}
            value={list?.name}
            onChoose={(name) => go({ list: name })}
            options={lists.map(({ name }) => [name, word('list', name)])}
          />
          <TextField label={t('schema.search')} value={search} onText={setSearch} />
        </div>
      </form>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        <div class="card wide">
          <p class="quiet">{t('schema.rows', { count: number(value.rows) })}</p>
          <table class="cards-when-narrow">
            <Columns names={[[t('schema.field')], [t('schema.share')], [t('schema.types')]]} />
            <tbody>
              {fields.map(({ field, share, forms }) => (
                <tr key={field}>
                  <th scope="row" class="wrap">
                    {field}
                  </th>
                  <td data-label={t('schema.share')}>
                    <meter value={share} min={0} max={1} aria-label={percent(share)} /> {percent(share)}
                  </td>
                  <td data-label={t('schema.types')} class="wrap">
                    {forms.map(({ form, rows }) => `${valueType(form)} (${number(rows)})`).join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

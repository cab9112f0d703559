/** The fields of a list and their types of values. */
import { useState } from 'preact/hooks';
import type { About, ListSchema } from '../api.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { usePreferences } from '../preferences.js';

export function Schema({ about }: { about: About }) {
  const { t, word, number, percent, valueType } = usePreferences();
  const { query } = usePlace();
  const [search, setSearch] = useState('');
  const workspace = about.workspaces.find(({ name }) => name === query.get('workspace')) ?? about.workspaces[0];
  const lists = workspace?.lists.filter(({ enabled }) => enabled) ?? [];
  const list = lists.find(({ name }) => name === query.get('list')) ?? lists[0];
  const path =
    workspace === undefined || list === undefined
      ? null
      : `/api/lists/${encodeURIComponent(workspace.name)}/${encodeURIComponent(list.name)}/schema`;
  const { value, error } = usePolled<ListSchema>(path, 15_000);
  const go = (next: { workspace?: string; list?: string }): void => {
    location.hash = placeOf('schema', { workspace: workspace?.name ?? '', list: list?.name ?? '', ...next });
  };
  const fields = value?.fields.filter(({ field }) => field.toLowerCase().includes(search.toLowerCase())) ?? [];
  return (
    <>
      <div class="head">
        <h1>{t('schema.title')}</h1>
        <p class="quiet">{t('schema.intro')}</p>
      </div>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          {about.workspaces.length > 1 && (
            <label>
              {t('filter.workspace')}
              <select value={workspace?.name} onChange={(event) => go({ workspace: event.currentTarget.value })}>
                {about.workspaces.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          )}
          <label>
            {t('lists.list')}
            <select value={list?.name} onChange={(event) => go({ list: event.currentTarget.value })}>
              {lists.map(({ name }) => (
                <option key={name} value={name}>
                  {word('list', name)}
                </option>
              ))}
            </select>
          </label>
          <label>
            {t('schema.search')}
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
        </div>
      </form>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        <div class="card wide">
          <p class="quiet">{t('schema.rows', { count: number(value.rows) })}</p>
          <table class="cards-when-narrow">
            <thead>
              <tr>
                <th scope="col">{t('schema.field')}</th>
                <th scope="col">{t('schema.share')}</th>
                <th scope="col">{t('schema.types')}</th>
              </tr>
            </thead>
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

-- The number of a step of a list, `<number> <id>`: each step that is committed has the next one. 0: there is none.
local function numberOf(step) return tonumber(string.match(step, '^(%d+) ')) or 0 end
-- Whether a step that a caller knows ("" for none) is gone: only earlier ones are stored, or another one in its place, as another process has
-- committed since. The ids of the last ten are kept; of an older one nothing is known.
local function lacksStep(sweep, known)
  local number = numberOf(known)
  if number == 0 then return false end
  if numberOf(redis.call('HGET', sweep, 'step') or '') < number then return true end
  local oldest
  for one in string.gmatch(redis.call('HGET', sweep, 'steps') or '', '[^\n]+') do
    if one == known then return false end
    oldest = numberOf(one)
  end
  return oldest ~= nil and oldest <= number
end
local function keepStep(sweep, step)
  local kept = { step }
  for one in string.gmatch(redis.call('HGET', sweep, 'steps') or '', '[^\n]+') do
    if #kept < 10 then kept[#kept + 1] = one end
  end
  redis.call('HSET', sweep, 'step', step, 'steps', table.concat(kept, '\n'))
end

-- The number of a step of a hash, `<number> <id>`: each step that is committed has the next one. 0: there is none.
local function numberOf(step) return tonumber(string.match(step, '^(%d+) ')) or 0 end
-- Whether a step that a caller knows ("" for none) is gone: only earlier ones are stored, or another one in its place, as another process has
-- committed since. The ids of the last ten are kept; of an older one nothing is known.
local function lacksStep(hash, known)
  local number = numberOf(known)
  if number == 0 then return false end
  if numberOf(redis.call('HGET', hash, 'step') or '') < number then return true end
  local oldest
  for one in string.gmatch(redis.call('HGET', hash, 'steps') or '', '[^\n]+') do
    if one == known then return false end
    oldest = numberOf(one)
  end
  return oldest ~= nil and oldest <= number
end
local function keepStep(hash, step)
  local kept = { step }
  for one in string.gmatch(redis.call('HGET', hash, 'steps') or '', '[^\n]+') do
    if #kept < 10 then kept[#kept + 1] = one end
  end
  redis.call('HSET', hash, 'step', step, 'steps', table.concat(kept, '\n'))
end
-- Numbers a step here, where it follows on no other of its caller. Returns it.
local function nextStep(hash, id)
  local step = string.format('%d %s', numberOf(redis.call('HGET', hash, 'step') or '') + 1, id)
  keepStep(hash, step)
  return step
end

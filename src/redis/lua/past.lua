-- The history of a list is a stream of what undoes its decisions: `version, when (6 bytes), …` as history-packing.ts makes it, then where the one of
-- the same record before it is (10 bytes). `changed` has where the last one of each record is. The hash of the list's sweeps has `historySince`, ms:
-- since when every decision is kept, while one is; `historyStep`: the last step that kept its decisions; `historyMasks`.
local NOWHERE = string.rep('\0', 10)
local function placeOf(id)
  local ms, serial = string.match(id, '^(%d+)-(%d+)$')
  return struct.pack('>I6I4', tonumber(ms), tonumber(serial))
end
local function idAt(place) return string.format('%.0f-%.0f', struct.unpack('>I6I4', place)) end
local function whenOf(past) return struct.unpack('>I6', past, 2) end
local function keepPast(history, changed, field, past)
  local id = redis.call('XADD', history, '*', '', past .. (redis.call('HGET', changed, field) or NOWHERE))
  redis.call('HSET', changed, field, placeOf(id))
end
local function endHistory(sweep, history, changed)
  redis.call('UNLINK', history, changed)
  redis.call('HDEL', sweep, 'historySince', 'historyStep', 'historyMasks')
end
-- Nothing is known of the time before a baseline is complete. The arguments from `at` on: now · masks · changes it keeps · ms that it keeps them.
local function beginHistory(sweep, at)
  if ARGV[at] == '' or redis.call('HEXISTS', sweep, 'historyStep') == 0 then return end
  redis.call('HSETNX', sweep, 'historySince', ARGV[at])
end
-- Whether the decisions of this step are kept. `before`: the step before.
local function followHistory(sweep, history, changed, before, at)
  local last, masks = unpack(redis.call('HMGET', sweep, 'historyStep', 'historyMasks'))
  if last and (ARGV[at] == '' or last ~= before or masks ~= ARGV[at + 1]) then endHistory(sweep, history, changed) end
  if ARGV[at] == '' then return false end
  redis.call('HSET', sweep, 'historyStep', redis.call('HGET', sweep, 'step'), 'historyMasks', ARGV[at + 1])
  if redis.call('HEXISTS', sweep, 'baselineAt') == 1 then beginHistory(sweep, at) end
  return redis.call('HEXISTS', sweep, 'historySince') == 1
end
-- Whole nodes of the stream, which costs little. What is gone can no longer be undone: so much is known as the first one left is old.
local function trimHistory(sweep, history, at)
  local oldest = string.format('%.0f', math.max(0, ARGV[at] - ARGV[at + 3]))
  local gone = redis.call('XTRIM', history, 'MAXLEN', '~', ARGV[at + 2]) + redis.call('XTRIM', history, 'MINID', '~', oldest)
  if gone == 0 then return end
  local first = redis.call('XRANGE', history, '-', '+', 'COUNT', 1)[1]
  local since = first and whenOf(first[2][2]) or tonumber(oldest)
  if since > tonumber(redis.call('HGET', sweep, 'historySince')) then
    redis.call('HSET', sweep, 'historySince', string.format('%.0f', since))
  end
end
-- Of one record, newest first: id, past, … of at most so many observed after a time, from a place on. Then the id of the next one, "" for none.
local function pastsFrom(history, place, most, afterMs)
  local pasts = {}
  while place ~= NOWHERE do
    local id = idAt(place)
    local entry = redis.call('XRANGE', history, id, id)[1]
    if not entry or whenOf(entry[2][2]) <= afterMs then break end
    if #pasts == 2 * most then return pasts, id end
    pasts[#pasts + 1], pasts[#pasts + 2] = id, entry[2][2]
    place = string.sub(entry[2][2], -10)
  end
  return pasts, ''
end

--[[ group-advance: what the runs of deliveries ask of their ordering groups, for several runs at once.
    standing n    the first n entries, if the delivery is the head; without an order, whether it is pending
    done n        it and the n - 1 entries behind it are handled or dead: they leave
    hold 0        it is dead and stays the head; it no longer counts as pending
    merge n       the n - 1 entries behind it are merged into it: they leave, and the head gets the entry and payload given. If the head is
                  that entry already, the command was sent again after its reply was lost
  All but "standing" are refused unless the run holds BullMQ's lock of its job; token "" is for a dead letter, whose job has no lock.
  Atomic because: a run that lost its job must not let the next delivery start while the run that took over handles this one.
  A repetition changes nothing and returns the head again, because the process may have been killed before it added the head's job.
  KEYS 1 payloads · n × (ordering group, or pending again if there is no order · pending · lock of the job)
  ARGV n × (verb · delivery id · token · count · entry or "" · payload or "")
  RETURN n × {"head", entries …} | {"left", head of the group now if any} | {"held"} | {"taken-over"}    Cost O(entries). Never calls TIME. ]]
--- @include "entry"
local function leave(pending, id)
  redis.call('ZREM', pending, id)
  redis.call('HDEL', KEYS[1], id)
end

local function answerTo(group, pending, lock, verb, id, token, count, entry, payload)
  if verb ~= 'standing' and (redis.call('GET', lock) or '') ~= token then return { 'taken-over' } end
  if group == pending then
    if verb == 'standing' then return { redis.call('ZSCORE', pending, id) and 'head' or 'left' } end
    leave(pending, id)
    return { 'left' }
  end
  if idOf(redis.call('LINDEX', group, 0)) ~= id then
    return { 'left', redis.call('LINDEX', group, 0) or nil }
  end
  if verb == 'standing' then return { 'head', unpack(redis.call('LRANGE', group, 0, count - 1)) } end
  if verb == 'merge' and redis.call('LINDEX', group, 0) == entry then return { 'head' } end
  if verb == 'hold' then
    redis.call('ZREM', pending, id)
    return { 'held' }
  end
  for _, gone in ipairs(redis.call('LPOP', group, count)) do
    if verb == 'done' or idOf(gone) ~= id then leave(pending, idOf(gone)) end
  end
  if verb == 'merge' then
    redis.call('LPUSH', group, entry)
    redis.call('HSET', KEYS[1], id, payload)
    return { 'head' }
  end
  return { 'left', redis.call('LINDEX', group, 0) or nil }
end

local answers = {}
for n = 0, #ARGV / 6 - 1 do
  local key, arg = 3 * n + 2, 6 * n + 1
  answers[n + 1] = answerTo(KEYS[key], KEYS[key + 1], KEYS[key + 2], ARGV[arg], ARGV[arg + 1], ARGV[arg + 2],
    tonumber(ARGV[arg + 3]), ARGV[arg + 4], ARGV[arg + 5])
end
return answers

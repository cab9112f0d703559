--[[ group-enter: appends deliveries to their ordering groups, once, and says which of them are heads. A delivery at or before the serial of
  its source (the log, a backfill, a retry) was entered before: a repeated batch changes nothing. A delivery may replace the head of
  its group: the retry of a dead letter that is held there.
  Nothing is entered unless the batch was read where the source is now (its offset, its task, the death of its letter): otherwise Redis has gone back to an earlier state,
  and the serial would hide from later batches what is missing before this one.
  Atomic because: a delivery that counts as entered but is in no group would be lost; one entered twice would run twice.
  The retry of what a snapshot sent is what the snapshot waits for from now on.
  KEYS 1 entered of the source · 2 pending · 3 payloads · 4 offsets, backfills, or the job of the letter · 5 undelivered of snapshots
       6 … ordering groups
  ARGV 1 TTL of the serial in ms, 0: none · 2 field of KEYS 4 that says where the batch was read, or "" · 3 its value then · n × (index of its group, 0: no order · serial, a log id · entry · id of the head to replace or "" ·
       payload or ""), serials ascending
  RETURN {"moved", number of pending deliveries} · {number of pending deliveries, n × ("head" | "": done, or behind another)}    Cost O(n log pending). Never calls TIME. ]]
--- @include "entry"
--- @include "serial"

-- A double holds the sequence exactly up to 4095; of a higher one, the score is a little before it. An event of a snapshot may be from before
-- the log (0-0): its score is when it was entered, so small that it still reads as 0-0.
local function scoreOf(entry)
  local ms, sequence, enteredMs = string.match(entry, '\31(%d+)-(%d+)\31(%d+)')
  if ms == '0' then return string.format('%.17g', tonumber(enteredMs) / 1e18) end
  return string.format('%.17g', tonumber(ms) + math.min(tonumber(sequence), 4095) / 4096)
end

if ARGV[2] ~= '' and redis.call('HGET', KEYS[4], ARGV[2]) ~= ARGV[3] then
  return { 'moved', redis.call('ZCARD', KEYS[2]) }
end

local furthest = redis.call('GET', KEYS[1]) or '0-0'
local ms, sequence = numbersOf(furthest)
local answer = { 0 }

for at = 4, #ARGV, 5 do
  local index, serial, entry, replaced, payload = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local group, id = KEYS[5 + index], idOf(entry)
  local serialMs, serialSequence = numbersOf(serial)
  local isFresh = serialMs > ms or (serialMs == ms and serialSequence > sequence)
  if isFresh then
    furthest, ms, sequence = serial, serialMs, serialSequence
    redis.call('ZADD', KEYS[2], scoreOf(entry), id)
    if payload ~= '' then redis.call('HSET', KEYS[3], id, payload) end
    local sent = snapshotPartOf(id)
    local waiting = sent and redis.call('HGET', KEYS[5], sent)
    if waiting then redis.call('HSET', KEYS[5], sent, id .. string.match(waiting, ' .*$')) end
    if index > 0 then
      if replaced ~= '' and idOf(redis.call('LINDEX', group, 0)) == replaced then
        redis.call('LSET', group, 0, entry)
        redis.call('HDEL', KEYS[3], replaced)
      else
        redis.call('RPUSH', group, entry)
      end
    end
  end
  local isHead
  if index > 0 then
    isHead = idOf(redis.call('LINDEX', group, 0)) == id
  else
    isHead = isFresh or redis.call('ZSCORE', KEYS[2], id)
  end
  answer[#answer + 1] = isHead and 'head' or ''
end

if ARGV[1] == '0' then
  redis.call('SET', KEYS[1], furthest)
else
  redis.call('SET', KEYS[1], furthest, 'PX', ARGV[1])
end
answer[1] = redis.call('ZCARD', KEYS[2])
return answer
